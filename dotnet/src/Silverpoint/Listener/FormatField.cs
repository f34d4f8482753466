using System;
using System.Globalization;

namespace Silverpoint
{
    // How one item of a format string is recorded. The record's text is what string.Format prints with the invariant
    // culture. Where a typed value alone would be printed otherwise, the field has both: .NET's text is shown, and the
    // value stays typed behind it.
    internal sealed class FormatField
    {
        private enum Form
        {
            // The value is printed by readers as by .NET.
            Value,
            // A text, and nothing else.
            Text,
            // A text, and the value.
            Both,
        }

        internal readonly int Index;
        internal readonly string Signature;
        // Behind the colon in the template; empty: nothing.
        internal readonly string Specification = "";
        private readonly Form form;
        private readonly string item;
        private readonly ObjectPacker packer;

        internal FormatField(CompositeFormat.Part part, Type type)
        {
            Index = part.Index;
            item = CompositeFormat.Item(part);
            packer = type == null ? null : ObjectPacker.For(type);
            int width = Math.Abs(part.Alignment);
            if (packer != null && packer.IsPrintedAlike && part.Format == null && (width == 0 || (packer.IsNumber && width <= 1000)))
            {
                form = Form.Value;
                Signature = packer.Signature;
                if (width > 0) Specification = (part.Alignment < 0 ? "<" : ">") + width.ToString(CultureInfo.InvariantCulture);
                return;
            }
            if (packer != null && packer.IsWorthKeeping)
            {
                form = Form.Both;
                Signature = "@look={};(@look={};S" + packer.Signature + ")";
                return;
            }
            form = Form.Text;
            Signature = "S";
        }

        internal string Hole => CompositeFormat.Hole(Specification);

        internal void Put(Writer writer, object value)
        {
            writer.Next();
            if (form == Form.Value)
            {
                packer.Put(writer, value);
                return;
            }
            string text = value as string;
            if (text == null || item != "{0}") text = string.Format(CultureInfo.InvariantCulture, item, value);
            writer.PutText(text);
            if (form == Form.Both) packer.Put(writer, value);
        }
    }
}
