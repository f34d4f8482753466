#pragma warning disable CS8500 // Fields are read where the runtime has put them.
using System;
using System.Threading;

namespace Silverpoint.Extensions.Logging
{
    // States of LogInformation and its like. They hold their values in an array, and an object that all states of one template share. So a
    // message that was recorded before is found by that object, without a box of the state, without its list and without garbage.
    internal sealed unsafe class FormattedState
    {
        // Where a state has both.
        private readonly int key, values;

        private FormattedState(int key, int values)
        {
            this.key = key;
            this.values = values;
        }

        // Of states of this type; null: they are read through their list.
        internal static FormattedState Find(Type type)
        {
            if (!type.IsValueType || type.FullName != "Microsoft.Extensions.Logging.FormattedLogValues") return null;
            try
            {
                return new FormattedState(StateRecorder.Offset(type, "_formatter", null), StateRecorder.Offset(type, "_values", typeof(object[])));
            }
            catch (Exception)
            {
                // As in StateRecorder.
                return null;
            }
        }

        // Null: it has no values.
        internal object KeyOf(byte* state) => *(object*)(state + values) == null ? null : *(object*)(state + key);

        // False: it is not known, or its list has to be read.
        internal bool Record(LevelSites sites, byte* state, MessageEnd end)
        {
            object of = KeyOf(state);
            FormattedMessage message = of == null ? null : sites.FindFormatted(of, end.Parts);
            if (message == null) return false;
            object[] all = *(object[]*)(state + values);
            ListedSite site = message.Find(all);
            if (site == null) return false;
            ListedState.Write(site, all, end);
            return true;
        }
    }

    // A template that was recorded, by what its states share.
    internal sealed class FormattedMessage
    {
        internal readonly object Key;
        internal readonly MessageParts Parts;
        internal readonly FormattedMessage Next;
        private readonly string[] names;
        private readonly ListedSlot slot;

        internal FormattedMessage(object key, MessageParts parts, string[] names, ListedSlot slot, FormattedMessage next)
        {
            Key = key;
            Parts = parts;
            Next = next;
            this.names = names;
            this.slot = slot;
        }

        // Null: there is none for values of these types, or the message is a text.
        internal ListedSite Find(object[] values)
        {
            ListedSite site = slot.Find(names, values);
            return site == null || site.Point == null ? null : site;
        }
    }

    // How states of one type are read.
    internal static class FormattedStates<TState>
    {
        // Null: through their list.
        internal static readonly FormattedState Only = FormattedState.Find(typeof(TState));
    }
}
