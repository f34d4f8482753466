using System;

namespace Silverpoint
{
    // Points in time and durations. The wire has nanoseconds in 64 bits, which .NET's ranges exceed: DateTime.MinValue,
    // TimeSpan.MaxValue. So both are a variant: nanoseconds where they fit, else .NET's own text.
    internal static unsafe class Times
    {
        internal const string TimeSignature = "/tS|", DurationSignature = "/TS|";
        internal const int Size = 9;
        private const long EpochTicks = 621355968000000000, Most = long.MaxValue / 100;

        internal static bool IsShort(DateTime value)
        {
            long ticks = value.Ticks - EpochTicks;
            // A local time changes by its offset: a day of distance is enough.
            return ticks < Most - TimeSpan.TicksPerDay && ticks > -Most + TimeSpan.TicksPerDay;
        }

        // The offset of a local time comes from code that reads files and may wait: not while a record is being made.
        internal static bool IsDirect(DateTime value) => value.Kind != DateTimeKind.Local && IsShort(value);

        internal static bool IsShort(TimeSpan value) => value.Ticks < Most && value.Ticks > -Most;

        internal static byte* Put(byte* at, DateTime value)
        {
            if (value.Kind == DateTimeKind.Local) value = value.ToUniversalTime();
            *at = 0;
            *(long*)(at + 1) = (value.Ticks - EpochTicks) * 100;
            return at + Size;
        }

        internal static byte* Put(byte* at, TimeSpan value)
        {
            *at = 0;
            *(long*)(at + 1) = value.Ticks * 100;
            return at + Size;
        }
    }
}
