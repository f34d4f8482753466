#pragma warning disable CS8500 // The address of arguments is used while they are in the stack.
using System.Runtime.CompilerServices;

namespace Silverpoint
{
    /// <summary>A place that records 1 argument; see <see cref="Tracepoint"/>.</summary>
    public sealed unsafe class Tracepoint<T1> : Tracepoint
    {
        // Null: the arguments are no texts and numbers, or numbers alone.
        private readonly PlacedRecorder recorder = PlacedRecorders<Arguments<T1, NoArguments>>.Only;

        internal Tracepoint(TracepointDescription description, params string[] names) : base(description, Codec<T1>.Signature, names) { }

        /// <summary>Records the arguments if the tracepoint is on.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Record(T1 a1)
        {
            if (*Site->State != 0) Write(a1);
        }

        /// <summary>Begins a span, which ends when the result is disposed of, in the same thread.</summary>
        /// <exception cref="System.InvalidOperationException">The tracepoint is no span.</exception>
        public TraceSpan Begin(T1 a1) => IsSpan && *Site->State != 0 ? new TraceSpan(Site, Write(a1)) : default(TraceSpan);

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal ulong Write(T1 a1)
        {
            var arguments = new Arguments<T1, NoArguments> { Value = a1 };
            return recorder == null ? Ring.Write(this, ref arguments) : recorder.Write(this, (byte*)&arguments);
        }
    }

    /// <summary>A place that records 2 arguments; see <see cref="Tracepoint"/>.</summary>
    public sealed unsafe class Tracepoint<T1, T2> : Tracepoint
    {
        // Null: the arguments are no texts and numbers, or numbers alone.
        private readonly PlacedRecorder recorder = PlacedRecorders<Arguments<T1, Arguments<T2, NoArguments>>>.Only;

        internal Tracepoint(TracepointDescription description, params string[] names) : base(description, Codec<T1>.Signature + Codec<T2>.Signature, names) { }

        /// <summary>Records the arguments if the tracepoint is on.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Record(T1 a1, T2 a2)
        {
            if (*Site->State != 0) Write(a1, a2);
        }

        /// <summary>Begins a span, which ends when the result is disposed of, in the same thread.</summary>
        /// <exception cref="System.InvalidOperationException">The tracepoint is no span.</exception>
        public TraceSpan Begin(T1 a1, T2 a2) => IsSpan && *Site->State != 0 ? new TraceSpan(Site, Write(a1, a2)) : default(TraceSpan);

        [MethodImpl(MethodImplOptions.NoInlining)]
        private ulong Write(T1 a1, T2 a2)
        {
            var arguments = new Arguments<T1, Arguments<T2, NoArguments>> { Value = a1, Rest = { Value = a2 } };
            return recorder == null ? Ring.Write(this, ref arguments) : recorder.Write(this, (byte*)&arguments);
        }
    }

    /// <summary>A place that records 3 arguments; see <see cref="Tracepoint"/>.</summary>
    public sealed unsafe class Tracepoint<T1, T2, T3> : Tracepoint
    {
        // Null: the arguments are no texts and numbers, or numbers alone.
        private readonly PlacedRecorder recorder = PlacedRecorders<Arguments<T1, Arguments<T2, Arguments<T3, NoArguments>>>>.Only;

        internal Tracepoint(TracepointDescription description, params string[] names) : base(description, Codec<T1>.Signature + Codec<T2>.Signature + Codec<T3>.Signature, names) { }

        /// <summary>Records the arguments if the tracepoint is on.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Record(T1 a1, T2 a2, T3 a3)
        {
            if (*Site->State != 0) Write(a1, a2, a3);
        }

        /// <summary>Begins a span, which ends when the result is disposed of, in the same thread.</summary>
        /// <exception cref="System.InvalidOperationException">The tracepoint is no span.</exception>
        public TraceSpan Begin(T1 a1, T2 a2, T3 a3) => IsSpan && *Site->State != 0 ? new TraceSpan(Site, Write(a1, a2, a3)) : default(TraceSpan);

        [MethodImpl(MethodImplOptions.NoInlining)]
        private ulong Write(T1 a1, T2 a2, T3 a3)
        {
            var arguments = new Arguments<T1, Arguments<T2, Arguments<T3, NoArguments>>> { Value = a1, Rest = { Value = a2, Rest = { Value = a3 } } };
            return recorder == null ? Ring.Write(this, ref arguments) : recorder.Write(this, (byte*)&arguments);
        }
    }

    /// <summary>A place that records 4 arguments; see <see cref="Tracepoint"/>.</summary>
    public sealed unsafe class Tracepoint<T1, T2, T3, T4> : Tracepoint
    {
        // Null: the arguments are no texts and numbers, or numbers alone.
        private readonly PlacedRecorder recorder = PlacedRecorders<Arguments<T1, Arguments<T2, Arguments<T3, Arguments<T4, NoArguments>>>>>.Only;

        internal Tracepoint(TracepointDescription description, params string[] names) : base(description, Codec<T1>.Signature + Codec<T2>.Signature + Codec<T3>.Signature + Codec<T4>.Signature, names) { }

        /// <summary>Records the arguments if the tracepoint is on.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Record(T1 a1, T2 a2, T3 a3, T4 a4)
        {
            if (*Site->State != 0) Write(a1, a2, a3, a4);
        }

        /// <summary>Begins a span, which ends when the result is disposed of, in the same thread.</summary>
        /// <exception cref="System.InvalidOperationException">The tracepoint is no span.</exception>
        public TraceSpan Begin(T1 a1, T2 a2, T3 a3, T4 a4) => IsSpan && *Site->State != 0 ? new TraceSpan(Site, Write(a1, a2, a3, a4)) : default(TraceSpan);

        [MethodImpl(MethodImplOptions.NoInlining)]
        private ulong Write(T1 a1, T2 a2, T3 a3, T4 a4)
        {
            var arguments = new Arguments<T1, Arguments<T2, Arguments<T3, Arguments<T4, NoArguments>>>> { Value = a1, Rest = { Value = a2, Rest = { Value = a3, Rest = { Value = a4 } } } };
            return recorder == null ? Ring.Write(this, ref arguments) : recorder.Write(this, (byte*)&arguments);
        }
    }

    /// <summary>A place that records 5 arguments; see <see cref="Tracepoint"/>.</summary>
    public sealed unsafe class Tracepoint<T1, T2, T3, T4, T5> : Tracepoint
    {
        // Null: the arguments are no texts and numbers, or numbers alone.
        private readonly PlacedRecorder recorder = PlacedRecorders<Arguments<T1, Arguments<T2, Arguments<T3, Arguments<T4, Arguments<T5, NoArguments>>>>>>.Only;

        internal Tracepoint(TracepointDescription description, params string[] names) : base(description, Codec<T1>.Signature + Codec<T2>.Signature + Codec<T3>.Signature + Codec<T4>.Signature + Codec<T5>.Signature, names) { }

        /// <summary>Records the arguments if the tracepoint is on.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Record(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5)
        {
            if (*Site->State != 0) Write(a1, a2, a3, a4, a5);
        }

        /// <summary>Begins a span, which ends when the result is disposed of, in the same thread.</summary>
        /// <exception cref="System.InvalidOperationException">The tracepoint is no span.</exception>
        public TraceSpan Begin(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5) => IsSpan && *Site->State != 0 ? new TraceSpan(Site, Write(a1, a2, a3, a4, a5)) : default(TraceSpan);

        [MethodImpl(MethodImplOptions.NoInlining)]
        private ulong Write(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5)
        {
            var arguments = new Arguments<T1, Arguments<T2, Arguments<T3, Arguments<T4, Arguments<T5, NoArguments>>>>> { Value = a1, Rest = { Value = a2, Rest = { Value = a3, Rest = { Value = a4, Rest = { Value = a5 } } } } };
            return recorder == null ? Ring.Write(this, ref arguments) : recorder.Write(this, (byte*)&arguments);
        }
    }

    /// <summary>A place that records 6 arguments; see <see cref="Tracepoint"/>.</summary>
    public sealed unsafe class Tracepoint<T1, T2, T3, T4, T5, T6> : Tracepoint
    {
        // Null: the arguments are no texts and numbers, or numbers alone.
        private readonly PlacedRecorder recorder = PlacedRecorders<Arguments<T1, Arguments<T2, Arguments<T3, Arguments<T4, Arguments<T5, Arguments<T6, NoArguments>>>>>>>.Only;

        internal Tracepoint(TracepointDescription description, params string[] names) : base(description, Codec<T1>.Signature + Codec<T2>.Signature + Codec<T3>.Signature + Codec<T4>.Signature + Codec<T5>.Signature + Codec<T6>.Signature, names) { }

        /// <summary>Records the arguments if the tracepoint is on.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Record(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6)
        {
            if (*Site->State != 0) Write(a1, a2, a3, a4, a5, a6);
        }

        /// <summary>Begins a span, which ends when the result is disposed of, in the same thread.</summary>
        /// <exception cref="System.InvalidOperationException">The tracepoint is no span.</exception>
        public TraceSpan Begin(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6) => IsSpan && *Site->State != 0 ? new TraceSpan(Site, Write(a1, a2, a3, a4, a5, a6)) : default(TraceSpan);

        [MethodImpl(MethodImplOptions.NoInlining)]
        private ulong Write(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6)
        {
            var arguments = new Arguments<T1, Arguments<T2, Arguments<T3, Arguments<T4, Arguments<T5, Arguments<T6, NoArguments>>>>>> { Value = a1, Rest = { Value = a2, Rest = { Value = a3, Rest = { Value = a4, Rest = { Value = a5, Rest = { Value = a6 } } } } } };
            return recorder == null ? Ring.Write(this, ref arguments) : recorder.Write(this, (byte*)&arguments);
        }
    }
}
