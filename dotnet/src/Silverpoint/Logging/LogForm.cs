using System;
using System.Collections.Concurrent;
using System.Globalization;

namespace Silverpoint
{
    // How a hole of an interpolated string is recorded. There is one object for each content, so that a message is
    // recognised by comparing references. It does not lead to types of the program, which may be unloaded.
    internal sealed class LogForm
    {
        private static readonly ConcurrentDictionary<string, LogForm> all = new ConcurrentDictionary<string, LogForm>();

        internal readonly string Signature;
        // Behind the colon in the template.
        internal readonly string Specification;

        private LogForm(string signature, string specification)
        {
            Signature = signature;
            Specification = specification;
        }

        internal static LogForm Of(string signature, string specification) => all.GetOrAdd(specification + " " + signature, _ => new LogForm(signature, specification));
    }

    // The forms of values of one type.
    internal static class LogForm<T>
    {
        // The value alone.
        internal static readonly LogForm Plain = LogForm.Of(Codec<T>.Signature, "");
        // .NET's text, and the value.
        internal static readonly LogForm Shown = LogForm.Of("@look={};(@look={};S" + Codec<T>.Signature + ")", "");
        // The value with its own types, and .NET's text alone: where a longer signature has no room.
        internal static readonly LogForm Any = LogForm.Of("v", "");
        internal static readonly LogForm Text = LogForm.Of("S", "");

        private sealed class OfFormat
        {
            internal string Format;
            internal LogForm Form;
        }

        private static readonly ConcurrentDictionary<string, OfFormat> known = new ConcurrentDictionary<string, OfFormat>();
        // The one that was asked for last: most types are printed in one format.
        private static OfFormat last = new OfFormat { Format = "", Form = Plain };

        // The form for a format and a value; Shown where readers would print it otherwise than .NET.
        internal static LogForm For(string format, T value)
        {
            if (!LogFormat.IsPrintedAlike(format, value)) return Shown;
            OfFormat found = last;
            if (ReferenceEquals(format, found.Format)) return found.Form;
            if (!known.TryGetValue(format, out found)) found = known.GetOrAdd(format, new OfFormat { Format = format, Form = LogForm.Of(Codec<T>.Signature, LogFormat.Specification(format)) });
            last = found;
            return found.Form;
        }
    }

    // Formats of .NET that templates of Silverpoint express (spec/templates.md).
    internal static class LogFormat
    {
        // Whether a reader prints the value with Specification(format) as .NET does.
        internal static bool IsPrintedAlike<T>(string format, T value)
        {
            int digits = Digits(format);
            if (digits < 0) return false;
            char letter = format[0];
            if (letter == 'F')
            {
                if (format.Length == 1) return false;
                if (typeof(T) == typeof(double)) return IsExact((double)(object)value, digits);
                if (typeof(T) == typeof(float)) return IsExact((float)(object)value, digits);
                return false;
            }
            if (letter != 'D' && letter != 'X' && letter != 'x') return false;
            if (typeof(T) == typeof(int)) return (int)(object)value >= 0;
            if (typeof(T) == typeof(long)) return (long)(object)value >= 0;
            return typeof(T) == typeof(uint) || typeof(T) == typeof(ulong) || typeof(T) == typeof(byte) || typeof(T) == typeof(ushort);
        }

        internal static string Specification(string format)
        {
            string digits = format.Substring(1);
            switch (format[0])
            {
                case 'F': return "." + digits + "f";
                case 'D': return digits.Length == 0 || digits == "0" ? "d" : "0" + digits + "d";
                default: return digits.Length == 0 || digits == "0" ? format.Substring(0, 1) : "0" + digits + format[0];
            }
        }

        // The number behind the letter, 0 if there is none; negative: the format is another one.
        private static int Digits(string format)
        {
            if (format.Length == 1) return 0;
            if (format.Length != 2 || format[1] < '0' || format[1] > '9') return -1;
            return format[1] - '0';
        }

        // A value in the middle of two texts is rounded away from zero by .NET, to the even one by readers. It is in
        // the middle if it is an odd number of parts of 2^(digits + 1).
        private static bool IsExact(double value, int digits)
        {
            if (double.IsNaN(value) || double.IsInfinity(value)) return false;
            double parts = Math.Abs(value) * (2 << digits);
            // From here on a double has no fraction, and .NET Framework prints 15 digits alone.
            if (parts >= 1L << 49) return false;
            return parts != Math.Floor(parts) || ((long)parts & 1) == 0;
        }
    }
}
