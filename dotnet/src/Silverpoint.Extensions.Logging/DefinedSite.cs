using System;
using System.Collections.Generic;
using System.Text;

namespace Silverpoint.Extensions.Logging
{
    // The site of a message that LoggerMessage.Define has made: it is found by the object that all states of the message share.
    internal sealed class DefinedSite
    {
        internal readonly object Key;
        internal readonly MessageParts Parts;
        // Null: the list is read.
        internal readonly Tracepoint Point;
        // Of the fields; null: none has one.
        internal readonly string[] Formats;
        internal readonly DefinedSite Next;
        // In the chain of LevelSites.Near.
        internal DefinedSite NextNear;

        internal DefinedSite(LevelSites sites, object key, MessageParts parts, List<IFieldValue> values, IReadOnlyList<KeyValuePair<string, object>> list, DefinedSite next)
        {
            Key = key;
            Parts = parts;
            Next = next;
            var template = list[list.Count - 1].Value as string;
            MessageTemplate parsed = template == null ? null : MessageTemplate.Parse(template);
            if (parsed == null || parsed.Names.Count != values.Count) return;
            var formats = new string[values.Count];
            var signature = new StringBuilder();
            string text = parsed.Format.Template(part =>
            {
                IFieldValue value = values[part.Index];
                if (part.Alignment != 0 || !value.CanPrint(part.Format)) return null;
                formats[part.Index] = part.Format;
                signature.Append(value.Signature);
                return CompositeFormat.Hole(part.Format == null ? "" : LogFormat.Specification(part.Format));
            });
            if (text == null) return;
            if (Array.Exists(formats, format => format != null)) Formats = formats;
            var names = new List<string>(parsed.Names);
            MessageEnd.AddNames(names, parts);
            Point = sites.Make(text, signature.Append(MessageEnd.Signature(parts)).ToString(), names.ToArray());
        }
    }
}
