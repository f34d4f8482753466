using System;

namespace Silverpoint
{
    // A text behind an indentation, packed straight into the ring.
    internal unsafe struct TextArgument : IArguments
    {
        private const int MostIndent = 1000;

        internal string Text;
        internal int Indent;
        // Characters at the end of the text that are left out: the end of its line.
        internal int LeftOut;

        // Blanks of so many steps. The program may choose any numbers: their product is bounded.
        internal static int Blanks(int level, int size) => (int)Math.Max(0, Math.Min((long)level * size, MostIndent));

        public int Count => 1;

        public int Size()
        {
            int size = Direct.TextSize(Text);
            return size < 0 || Indent > MostIndent ? Direct.Elsewhere : size + 2 * (Indent - LeftOut);
        }

        public byte* Put(byte* at)
        {
            int length = Text.Length - LeftOut;
            if (Indent == 0) return Direct.PutText(at, Text, length);
            byte* end = Direct.PutText(at + 2 * Indent, Text, length);
            *(int*)at = Indent + length;
            char* blank = (char*)(at + 4);
            for (int i = 0; i < Indent; ++i) blank[i] = ' ';
            return end;
        }

        public void Pack(Writer writer)
        {
            writer.Next();
            string text = Indent == 0 ? Text : new string(' ', Indent) + Text;
            fixed (char* from = text) writer.PutText(from, text.Length - LeftOut);
        }
    }

    // The arguments of a format string, and the event's number.
    internal unsafe struct FormatArguments : IArguments
    {
        internal FormatSite Site;
        internal object[] Arguments;
        // 0: none.
        internal int Id;

        public int Count => Arguments.Length;
        public int Size() => Direct.Elsewhere;
        public byte* Put(byte* at) => at;
        public void Pack(Writer writer) => Site.Pack(writer, Arguments, Id);
    }

    // What follows a text: each is absent or there, as the signature says.
    internal unsafe struct EventArguments : IArguments
    {
        internal string Text;
        // Instead of the text: any value.
        internal object Data;
        internal bool HasData;
        internal int? Id;
        internal System.Guid? Related;
        internal string Stack;
        internal object Operations;

        internal const int MostParts = 32;

        // What there is, as a number below MostParts.
        internal int Parts => (HasData ? 1 : 0) | (Id.HasValue ? 2 : 0) | (Related.HasValue ? 4 : 0) | (Operations != null ? 8 : 0) | (Stack != null ? 16 : 0);

        internal string Signature => (HasData ? "v" : "S") + (Id.HasValue ? "i" : "") + (Related.HasValue ? "u" : "") + (Operations != null ? "v" : "") + (Stack != null ? "S" : "");

        internal string Names => (HasData ? "data" : "message") + (Id.HasValue ? " id" : "") + (Related.HasValue ? " relatedActivityId" : "") + (Operations != null ? " operations" : "") +
                                 (Stack != null ? " stack" : "");

        public int Count => 3;
        public int Size() => Direct.Elsewhere;
        public byte* Put(byte* at) => at;

        public void Pack(Writer writer)
        {
            writer.Next();
            if (HasData) Items.PutArgument(writer, Data);
            else writer.PutText(Text);
            if (Id.HasValue) Codec<int>.Packer.Put(writer, Id.Value);
            if (Related.HasValue) Codec<System.Guid>.Packer.Put(writer, Related.Value);
            writer.Next();
            if (Operations != null) Items.PutArgument(writer, Operations);
            writer.Next();
            if (Stack != null) writer.PutText(Stack);
        }
    }
}
