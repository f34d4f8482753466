using System;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Silverpoint
{
    // The hot path: one record into the thread's ring (spec/wire.md, sections 4 and 5). Unsafe, since the ring is
    // memory that other processes share.
    internal static unsafe class Ring
    {
        // The value of Lane.Ready while no record is made.
        private const uint Ready = 1;

        // Mono alone ends threads at any place (Thread.Abort).
        internal static readonly bool IsMono = Type.GetType("Mono.Runtime") != null;

        // The context of the flow that the thread runs, and the one that the native library knows of this thread.
        [ThreadStatic] private static Context wanted;
        [ThreadStatic] private static Context stated;
        private static int largest;

        // Bytes of arguments that the largest record has room for.
        internal static int Largest
        {
            get
            {
                if (largest == 0) largest = (int)(uint)Native.spn_largest();
                return largest;
            }
        }

        // The thread runs in another context from here on. Its next record finds no room before the limit, so it takes
        // the slow path, which states the context. Other records do not look at it.
        internal static void Enter(Context context)
        {
            wanted = context;
            Lane* lane = Native.IsThere ? Native.OwnLane() : null;
            if (lane != null) Volatile.Write(ref *(ulong*)&lane->Limit, 0);
        }

        // Tells the native library about the context before it makes a record.
        private static void State()
        {
            Context context = wanted;
            if (context == stated) return;
            int size = context == null ? 0 : context.Size;
            fixed (byte* pairs = size == 0 ? null : context.Pairs) Native.spn_context(pairs, (UIntPtr)(uint)size, context != null && context.IsCut ? 1 : 0);
            stated = context;
        }

        // For tests: the place of the thread's next record; null before the first.
        internal static byte* Position => Native.OwnLane() == null ? null : Native.OwnLane()->Cursor;

        // Records the arguments if the site is on. Gives the ticks of the record; 0: there is none.
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        internal static ulong Write<TArguments>(Tracepoint point, ref TArguments arguments) where TArguments : struct, IArguments
        {
            NativeSite* site = point.Site;
            if (*site->State == 1)
            {
                ulong head = Volatile.Read(ref site->Head);
                // Negative: system tracers want it, too.
                if ((long)head > 0)
                {
                    int size = arguments.Size();
                    if (size >= 0)
                    {
                        ulong ticks = Put(head, size, ref arguments);
                        if (ticks != 0) return ticks;
                    }
                }
            }
            return WriteSlowly(point, ref arguments);
        }

        // 0 when the lane is busy, or the record does not fit before the limit.
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        private static ulong Put<TArguments>(ulong head, int size, ref TArguments arguments) where TArguments : struct, IArguments
        {
            head |= (uint)((16 + size + 7) & ~7);
            return IsMono ? PutWhole(head, ref arguments) : PutNow(head, ref arguments);
        }

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        private static ulong PutNow<TArguments>(ulong head, ref TArguments arguments) where TArguments : struct, IArguments
        {
            Lane* lane = Native.Begin(head);
            if (lane == null) return 0;
            byte* at = lane->Cursor;
            ulong ticks = *(ulong*)(at + 8);
            arguments.Put(at + 16);
            at += (uint)head & 0xFFFFFF;
            lane->Cursor = at;
            Volatile.Write(ref *lane->Committed, (ulong)at + lane->Delta);
            lane->Ready = Ready;
            return ticks;
        }

        // In a finally block Thread.Abort cannot leave the lane busy.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static ulong PutWhole<TArguments>(ulong head, ref TArguments arguments) where TArguments : struct, IArguments
        {
            ulong ticks = 0;
            try { }
            finally
            {
                ticks = PutNow(head, ref arguments);
            }
            return ticks;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static ulong WriteSlowly<TArguments>(Tracepoint point, ref TArguments arguments) where TArguments : struct, IArguments
        {
            NativeSite* site = point.Site;
            byte state = *site->State;
            if (state == 0 || (state != 1 && !Native.Wants(site, state))) return 0;
            ulong head = Volatile.Read(ref site->Head);
            if ((long)head <= 0) head = point.Complete();
            if (head == 0) return 0;
            Writer writer = Writer.Take(arguments.Count);
            try
            {
                arguments.Pack(writer);
                return Write(site, head, writer);
            }
            finally
            {
                writer.GiveBack();
            }
        }

        // The same for arguments that are packed.
        internal static ulong Write(Tracepoint point, Writer writer)
        {
            NativeSite* site = point.Site;
            // Another thread may set it to 0 at any time: it is read once.
            ulong head = Volatile.Read(ref site->Head);
            byte state = *site->State;
            if (state == 1 && (long)head > 0) return Write(site, head, writer);
            if (state == 0 || (state != 1 && !Native.Wants(site, state))) return 0;
            if ((long)head <= 0) head = point.Complete();
            if (head == 0) return 0;
            return Write(site, head, writer);
        }

        // A record whose arguments are packed.
        private static ulong Write(NativeSite* site, ulong head, Writer writer)
        {
            if (writer.IsFull)
            {
                Native.spn_lose(Native.TooLarge);
                return 0;
            }
            if ((long)head > 0 && !writer.IsCut)
            {
                var packed = new PackedArguments { Bytes = writer.Bytes, Length = writer.Size };
                ulong ticks = Put(head, writer.Size, ref packed);
                if (ticks != 0) return ticks;
            }
            State();
            return Native.spn_record(site, head, writer.Bytes, (UIntPtr)(uint)writer.Size, writer.IsCut ? 1 : 0);
        }

        // The end of a span that began at these ticks: a control record.
        internal static void EndSpan(NativeSite* site, ulong ticks)
        {
            const ulong Head = 3ul << 32;
            if ((long)ticks <= 0)
            {
                if (ticks == 0) return;
                State();
                Native.spn_end_probed_span(site, ticks);
                return;
            }
            var arguments = new Arguments<uint, Arguments<ulong, NoArguments>> { Value = (uint)(site->Whole >> 32), Rest = { Value = ticks } };
            if (Put(Head, 12, ref arguments) != 0) return;
            byte* bytes = stackalloc byte[12];
            arguments.Put(bytes);
            State();
            Native.spn_record(site, Head, bytes, (UIntPtr)12u, 0);
        }
    }
}
