#pragma warning disable CS8500 // Fields are read where the runtime has put them.
using System;

namespace Silverpoint
{
    // How a value at an address is recorded and printed.
    internal unsafe interface IFieldValue
    {
        string Signature { get; }
        // Whether readers print all values, or those of which IsPrintedAlike says so, as .NET does: with this format, null without one.
        bool CanPrint(string format);
        bool IsPrintedAlike(byte* at);
        bool IsPrintedAlike(byte* at, string format);
        // As IArguments has it.
        int Size(byte* at);
        byte* Put(byte* to, byte* at);
        void Pack(Writer writer, byte* at);
    }

    internal unsafe struct FieldValue<T> : IFieldValue
    {
        private static readonly bool isPlain = typeof(T) == typeof(bool) || typeof(T) == typeof(char) || typeof(T) == typeof(Guid) || typeof(T) == typeof(decimal) || typeof(T) == typeof(float) ||
                                               typeof(T) == typeof(double) || IsInteger() || IsEnum();

        private static bool IsInteger() => typeof(T) == typeof(sbyte) || typeof(T) == typeof(byte) || typeof(T) == typeof(short) || typeof(T) == typeof(ushort) || typeof(T) == typeof(int) ||
                                           typeof(T) == typeof(uint) || typeof(T) == typeof(long) || typeof(T) == typeof(ulong);
        // Sets of flags have other separators. One with very many names is recorded as its number.
        private static bool IsEnum() => typeof(T).IsEnum && !typeof(T).IsDefined(typeof(FlagsAttribute), false) && Codec<T>.Signature[0] == 'e';

        // .NET prints False and True.
        public string Signature => typeof(T) == typeof(bool) ? ObjectPacker.For(typeof(bool)).Signature : Codec<T>.Signature;

        public bool CanPrint(string format) => format == null ? isPlain : LogFormat.IsPrintedAlike(format, default(T));

        public bool IsPrintedAlike(byte* at)
        {
            if (typeof(T) == typeof(double)) return FormatSite.IsPrintedAlike(*(double*)at);
            return typeof(T) != typeof(float) || FormatSite.IsPrintedAlike(*(float*)at);
        }

        public bool IsPrintedAlike(byte* at, string format) => LogFormat.IsPrintedAlike(format, *(T*)at);
        // (A value that is not needed is not read: the compiler at run time keeps the load.)
        public int Size(byte* at) => Direct.FixedSize<T>() != 0 ? Direct.FixedSize<T>() : Direct.Size(*(T*)at);
        public byte* Put(byte* to, byte* at) => Direct.Put(to, *(T*)at);
        public void Pack(Writer writer, byte* at) => Codec<T>.Packer.Put(writer, *(T*)at);
    }

    // (All generic types of reference types share their code, which looks up at run time what it is for.)
    internal unsafe struct TextValue : IFieldValue
    {
        public string Signature => Codec<string>.Signature;
        public bool CanPrint(string format) => format == null;
        public bool IsPrintedAlike(byte* at) => true;
        public bool IsPrintedAlike(byte* at, string format) => false;
        public int Size(byte* at) => Direct.TextSize(*(string*)at);
        public byte* Put(byte* to, byte* at) => Direct.PutText(to, *(string*)at ?? Direct.Null);
        public void Pack(Writer writer, byte* at) => Codec<string>.Packer.Put(writer, *(string*)at);
    }
}
