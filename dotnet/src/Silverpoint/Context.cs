using System;
using System.Collections.Generic;
using System.Threading;

namespace Silverpoint
{
    /// <summary>
    /// Fields that all records of a logical flow have until it is disposed of: <c>using (Context.Push("request", id)) { … }</c>.
    /// They follow the flow through <c>await</c>, tasks, the thread pool and new threads, as <see cref="AsyncLocal{T}"/> does.
    /// What is started while the scope is open keeps the fields, also after its end. A field of an inner scope hides one of the
    /// same name of an outer scope. Nothing here throws, and all of it may be used by any thread.
    /// </summary>
    /// <remarks>
    /// A record costs the same inside and outside. The first one after a change writes the fields into the thread's ring. Pushing
    /// encodes the values at once and allocates an object and its bytes; the runtime copies its own table of flow values.
    /// A flow has at most 24 open scopes, with 1,424 bytes for all names and values in UTF-8. What has no room is cut or left
    /// out, and the records are marked as incomplete.
    /// </remarks>
    public sealed class Context : IDisposable
    {
        // As detail/contexts.hpp has it: the native library keeps a thread's fields in a fixed place.
        internal const int MostBytes = 1424, MostScopes = 24;
        private const int MostName = 255, MostFields = 256;

        private static readonly Context nothing = new Context(null, null, new byte[0], false, false);
        // The runtime calls Enter in each thread whose flow changes.
        private static readonly AsyncLocal<Context> flow = new AsyncLocal<Context>(change => Ring.Enter(change.CurrentValue));

        private readonly Context outer;
        // What Push has given; the object itself, or the one that it replaces since a scope in between has ended.
        private readonly Context pushed;
        private readonly int depth;
        // A flow has at most one such scope.
        private readonly bool isExchanged;
        // Names and values in turn as CBOR, the outermost scope's first.
        internal readonly byte[] Pairs;
        // Something was cut or left out, here or further out.
        internal readonly bool IsCut;

        private Context(Context outer, Context pushed, byte[] pairs, bool isCut, bool isExchanged)
        {
            this.outer = outer;
            this.pushed = pushed ?? this;
            depth = outer == null ? 1 : outer.depth + 1;
            Pairs = pairs;
            IsCut = isCut;
            this.isExchanged = isExchanged;
        }

        internal int Size => Pairs.Length;

        /// <summary>Opens a scope with one field. Values are recorded as by a tracepoint: numbers and texts as they are, objects by their
        /// properties; what a getter throws stands in its place.</summary>
        public static Context Push(string name, object value) => Push(new[] { new KeyValuePair<string, object>(name, value) });

        /// <summary>Opens a scope with two fields.</summary>
        public static Context Push(string name1, object value1, string name2, object value2) =>
            Push(new[] { new KeyValuePair<string, object>(name1, value1), new KeyValuePair<string, object>(name2, value2) });

        /// <summary>Opens a scope with several fields. If the enumerator throws, those before that are recorded.</summary>
        public static Context Push(IEnumerable<KeyValuePair<string, object>> fields)
        {
            if (!Native.IsThere || fields == null) return nothing;
            Context open = flow.Value, made = Within(open, fields, false);
            if (made == open) return nothing;
            flow.Value = made;
            return made;
        }

        // Fields in the place of those that were given here before in this flow: what is current there. Null: none.
        internal static void Exchange(IEnumerable<KeyValuePair<string, object>> fields)
        {
            if (!Native.IsThere) return;
            Context open = flow.Value, kept = open;
            for (Context one = open; one != null; one = one.outer)
                if (one.isExchanged)
                {
                    kept = Without(open, one);
                    break;
                }
            Context made = fields == null ? kept : Within(kept, fields, true);
            if (made != open) flow.Value = made;
        }

        // A scope with these fields within another one; that one itself if there are too many.
        private static Context Within(Context open, IEnumerable<KeyValuePair<string, object>> fields, bool isExchanged)
        {
            if (open != null && open.depth >= MostScopes) return open;
            int begin = open == null ? 0 : open.Size;
            bool isCut = open != null && open.IsCut;
            Writer writer = Writer.TakeFor(MostBytes - begin);
            try
            {
                isCut |= !Put(writer, fields) || writer.IsCut;
                return new Context(open, null, Join(open, writer), isCut, isExchanged);
            }
            finally
            {
                writer.GiveBack();
            }
        }

        private static unsafe byte[] Join(Context open, Writer writer)
        {
            int begin = open == null ? 0 : open.Size;
            var pairs = new byte[begin + writer.Size];
            if (begin > 0) Buffer.BlockCopy(open.Pairs, 0, pairs, 0, begin);
            for (int i = 0; i < writer.Size; ++i) pairs[begin + i] = writer.Bytes[i];
            return pairs;
        }

        // False: not all fields have room, or could be read.
        private static bool Put(Writer writer, IEnumerable<KeyValuePair<string, object>> fields)
        {
            int left = MostFields;
            try
            {
                foreach (KeyValuePair<string, object> field in fields)
                {
                    Writer.Place before = writer.Here;
                    Cbor.Text(writer, field.Key ?? "", Math.Min(MostName, Math.Max(writer.Room - 3, 0)));
                    Items.Put(writer, field.Value, 0);
                    if (writer.IsFull || --left < 0)
                    {
                        writer.Back(before);
                        return false;
                    }
                }
                return true;
            }
            catch (Exception error) when (!(error is OutOfMemoryException))
            {
                return false;
            }
        }

        /// <summary>Ends the scope in the flow that calls this: the fields of inner scopes stay. Does nothing where the scope is not open,
        /// as at a second call. Flows that were started meanwhile keep the fields.</summary>
        public void Dispose()
        {
            Context open = flow.Value;
            for (Context one = open; one != null; one = one.outer)
            {
                if (one.pushed != this) continue;
                flow.Value = Without(open, one);
                return;
            }
        }

        // The chain of scopes without one of them.
        private static Context Without(Context open, Context ended)
        {
            if (open == ended) return open.outer;
            Context outer = Without(open.outer, ended);
            int own = open.Size - open.outer.Size, begin = outer == null ? 0 : outer.Size;
            var pairs = new byte[begin + own];
            if (begin > 0) Buffer.BlockCopy(outer.Pairs, 0, pairs, 0, begin);
            Buffer.BlockCopy(open.Pairs, open.outer.Size, pairs, begin, own);
            return new Context(outer, open.pushed, pairs, open.IsCut, open.isExchanged);
        }
    }
}
