using System;
using System.Collections.Generic;

namespace Silverpoint.Extensions.Logging
{
    // What follows the values of a message: each is absent or there.
    [Flags]
    internal enum MessageParts
    {
        None = 0,
        Event = 1,
        Exception = 2,
        All = 3,
    }

    // The arguments behind the values of one message.
    internal struct MessageEnd
    {
        // 0: none.
        private readonly int id;
        // Null: none.
        private readonly Exception exception;

        internal MessageEnd(int id, Exception exception)
        {
            this.id = id;
            this.exception = exception;
        }

        internal MessageParts Parts => (id != 0 ? MessageParts.Event : MessageParts.None) | (exception != null ? MessageParts.Exception : MessageParts.None);

        internal static string Signature(MessageParts parts) => ((parts & MessageParts.Event) != 0 ? "i" : "") + ((parts & MessageParts.Exception) != 0 ? "v" : "");

        internal static void AddNames(List<string> names, MessageParts parts)
        {
            if ((parts & MessageParts.Event) != 0) names.Add("event");
            if ((parts & MessageParts.Exception) != 0) names.Add("exception");
        }

        internal int Count => 2;

        internal void Pack(Writer writer)
        {
            writer.Next();
            if (id != 0) Codec<int>.Packer.Put(writer, id);
            writer.Next();
            if (exception != null) Items.PutArgument(writer, exception);
        }
    }
}
