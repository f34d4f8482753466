#pragma warning disable CS8500 // Block packers are made for types without references alone.
using System;

namespace Silverpoint
{
    // Numbers: their memory.
    internal sealed unsafe class BlockPacker<T> : Packer<T>
    {
        private readonly string signature;
        private readonly int size;

        internal BlockPacker(string signature, int size)
        {
            this.signature = signature;
            this.size = size;
        }

        internal override string Signature => signature;
        internal override int Fixed => size;
        internal override bool IsBlock => true;

        internal override void Put(Writer writer, T value)
        {
            byte* at = writer.Reserve(size);
            if (at == null) return;
            byte* from = (byte*)&value;
            for (int i = 0; i < size; ++i) at[i] = from[i];
        }
    }

    internal sealed class BoolPacker : Packer<bool>
    {
        internal override string Signature => "b";
        internal override int Fixed => 1;

        internal override void Put(Writer writer, bool value) => writer.Put8(value ? (byte)1 : (byte)0);
    }

    internal sealed class TextPacker : Packer<string>
    {
        internal override string Signature => "S";

        internal override void Put(Writer writer, string value) => writer.PutText(value ?? Direct.Null);
    }

    // The wire has no decimal: its text keeps all digits and the scale.
    internal sealed unsafe class DecimalPacker : Packer<decimal>
    {
        internal override string Signature => "S";

        internal override void Put(Writer writer, decimal value)
        {
            int at = Texts.Write(value, writer.Letters);
            fixed (char* from = writer.Letters) writer.PutText(from + at, writer.Letters.Length - at);
        }
    }

    internal sealed unsafe class GuidPacker : Packer<Guid>
    {
        internal override string Signature => "u";
        internal override int Fixed => 16;

        internal override void Put(Writer writer, Guid value)
        {
            byte* at = writer.Reserve(16);
            if (at != null) Texts.PutGuid(at, (byte*)&value);
        }
    }

    internal sealed unsafe class TimePacker : Packer<DateTime>
    {
        internal override string Signature => Times.TimeSignature;

        internal override void Put(Writer writer, DateTime value)
        {
            if (Times.IsShort(value))
            {
                byte* at = writer.Reserve(Times.Size);
                if (at != null) Times.Put(at, value);
                return;
            }
            writer.Put8(1);
            writer.PutText(value.ToString("O", System.Globalization.CultureInfo.InvariantCulture));
        }
    }

    // The instant. The offset from UTC is not recorded.
    internal sealed class OffsetTimePacker : Packer<DateTimeOffset>
    {
        internal override string Signature => Times.TimeSignature;

        internal override void Put(Writer writer, DateTimeOffset value) => Codec<DateTime>.Packer.Put(writer, value.UtcDateTime);
    }

    internal sealed unsafe class DurationPacker : Packer<TimeSpan>
    {
        internal override string Signature => Times.DurationSignature;

        internal override void Put(Writer writer, TimeSpan value)
        {
            if (Times.IsShort(value))
            {
                byte* at = writer.Reserve(Times.Size);
                if (at != null) Times.Put(at, value);
                return;
            }
            writer.Put8(1);
            writer.PutText(value.ToString("c", System.Globalization.CultureInfo.InvariantCulture));
        }
    }

    // Bytes; null as none.
    internal sealed unsafe class BytesPacker : Packer<byte[]>
    {
        internal override string Signature => "?y";

        internal override void Put(Writer writer, byte[] value)
        {
            writer.Put8(value == null ? (byte)0 : (byte)1);
            if (value == null) return;
            fixed (byte* from = value) writer.PutUnits(from, value.Length, 1);
        }
    }
}
