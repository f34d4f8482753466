#pragma warning disable CS8500 // Addresses of T are taken only where T has been compared with a type without references.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Silverpoint
{
    // Values that the hot path packs straight into the ring, since no code of the program runs for them. The
    // compiler at run time removes all branches but one for each T that is a value type.
    // (Mono's compiler keeps 120 bytes for each comparison of types here, beyond the end of an AppDomain: `mono_metadata_get_inflated_signature`,
    // for the call of Type's operator. As objects they would cost nothing there. But .NET 10 does not inline such functions. A table of
    // types instead takes 10 ns more there for three numbers. Behind a constant condition they cost as much: Mono compiles both branches.)
    internal static unsafe class Direct
    {
        // Longer texts are packed elsewhere: they may have to be cut.
        private const int LongText = 2048;
        // The size of a value that is not packed here. Sums with the sizes of all others of a record are negative, too.
        internal const int Elsewhere = -(1 << 24);
        internal const string Null = "(null)";

        // How many bytes each value has in a record; 0: it depends on the value, or is not known here.
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        internal static int FixedSize<T>()
        {
            if (typeof(T) == typeof(int) || typeof(T) == typeof(uint) || typeof(T) == typeof(float)) return 4;
            if (typeof(T) == typeof(long) || typeof(T) == typeof(ulong) || typeof(T) == typeof(double) || typeof(T) == typeof(IntPtr) || typeof(T) == typeof(UIntPtr)) return 8;
            if (typeof(T) == typeof(short) || typeof(T) == typeof(ushort) || typeof(T) == typeof(char)) return 2;
            if (typeof(T) == typeof(byte) || typeof(T) == typeof(sbyte) || typeof(T) == typeof(bool)) return 1;
            return typeof(T) == typeof(Guid) ? 16 : 0;
        }

        // How many bytes the value has in a record; negative: it is not packed here.
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        internal static int Size<T>(T value)
        {
            if (FixedSize<T>() != 0) return FixedSize<T>();
            if (typeof(T) == typeof(DateTime)) return Times.IsDirect(*(DateTime*)&value) ? Times.Size : Elsewhere;
            if (typeof(T) == typeof(DateTimeOffset)) return Times.IsShort((*(DateTimeOffset*)&value).UtcDateTime) ? Times.Size : Elsewhere;
            if (typeof(T) == typeof(TimeSpan)) return Times.IsShort(*(TimeSpan*)&value) ? Times.Size : Elsewhere;
            // (Not `value is string`: code that is not optimised yet would box numbers.)
            if (typeof(T) == typeof(string)) return TextSize((string)(object)value);
            return OtherSize<T>();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int OtherSize<T>() => Codec<T>.Raw == 0 ? Elsewhere : Codec<T>.Raw;

        // Packs a value that has a size, and gives the place behind it.
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        internal static byte* Put<T>(byte* at, T value)
        {
            if (typeof(T) == typeof(int) || typeof(T) == typeof(uint) || typeof(T) == typeof(float))
            {
                *(uint*)at = *(uint*)&value;
                return at + 4;
            }
            if (typeof(T) == typeof(long) || typeof(T) == typeof(ulong) || typeof(T) == typeof(double) || typeof(T) == typeof(IntPtr) || typeof(T) == typeof(UIntPtr))
            {
                *(ulong*)at = *(ulong*)&value;
                return at + 8;
            }
            if (typeof(T) == typeof(short) || typeof(T) == typeof(ushort) || typeof(T) == typeof(char))
            {
                *(ushort*)at = *(ushort*)&value;
                return at + 2;
            }
            if (typeof(T) == typeof(byte) || typeof(T) == typeof(sbyte))
            {
                *at = *(byte*)&value;
                return at + 1;
            }
            if (typeof(T) == typeof(bool))
            {
                *at = *(bool*)&value ? (byte)1 : (byte)0;
                return at + 1;
            }
            if (typeof(T) == typeof(Guid)) return Texts.PutGuid(at, (byte*)&value);
            if (typeof(T) == typeof(DateTime)) return Times.Put(at, *(DateTime*)&value);
            if (typeof(T) == typeof(DateTimeOffset)) return Times.Put(at, (*(DateTimeOffset*)&value).UtcDateTime);
            if (typeof(T) == typeof(TimeSpan)) return Times.Put(at, *(TimeSpan*)&value);
            if (typeof(T) == typeof(string)) return PutText(at, (string)(object)value ?? Null);
            return PutOther(at, value);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static byte* PutOther<T>(byte* at, T value)
        {
            int size = Codec<T>.Raw;
            byte* from = (byte*)&value;
            for (int i = 0; i < size; ++i) at[i] = from[i];
            return at + size;
        }

        internal static int TextSize(string text)
        {
            int length = (text ?? Null).Length;
            return length <= LongText ? 4 + 2 * length : Elsewhere;
        }

        internal static byte* PutText(byte* at, string text) => PutText(at, text, text.Length);

        // The first `length` characters.
        internal static byte* PutText(byte* at, string text, int length)
        {
            *(int*)at = length;
            at += 4;
            fixed (char* from = text) Copy(at, (byte*)from, 2 * length);
            return at + 2 * length;
        }

        // A few letters are copied here: Buffer.MemoryCopy calls two functions first. (Mono calls one for each block.)
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        private static void Copy(byte* to, byte* from, int size)
        {
            if (size < 16 || size > 128 || Ring.IsMono)
            {
                Buffer.MemoryCopy(from, to, size, size);
                return;
            }
            int last = size - sizeof(Block);
            for (int i = 0; i < last; i += sizeof(Block)) *(Block*)(to + i) = *(Block*)(from + i);
            // Lies over the one before it.
            *(Block*)(to + last) = *(Block*)(from + last);
        }

        [StructLayout(LayoutKind.Sequential, Size = 16)]
        private struct Block { }
    }
}
