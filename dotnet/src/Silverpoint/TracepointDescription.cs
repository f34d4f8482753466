using System;

namespace Silverpoint
{
    /// <summary>What a tracepoint is, without the types of its arguments: <c>With</c> adds these and makes it.
    /// A tracepoint is never freed: make each one once.</summary>
    public sealed class TracepointDescription
    {
        internal readonly Kind Kind;
        internal readonly string Category;
        internal readonly Level Level;
        internal readonly string Text;
        internal readonly string File;
        internal readonly int Line;
        internal readonly string Function;

        internal TracepointDescription(Kind kind, string category, Level level, string text, string file, int line, string function)
        {
            if (text == null) throw new ArgumentNullException(nameof(text));
            if (level < Level.Trace || level > Level.Fatal) throw new ArgumentOutOfRangeException(nameof(level));
            Kind = kind;
            Category = category ?? "";
            Level = level;
            Text = text;
            File = file ?? "";
            Line = line;
            Function = function ?? "";
        }

        /// <summary>A tracepoint without arguments.</summary>
        public Tracepoint With() => new Tracepoint(this, "");

        /// <summary>A tracepoint with 1 argument. Names are for kinds other than messages.</summary>
        public Tracepoint<T1> With<T1>(string name1 = null) => new Tracepoint<T1>(this, name1);

        /// <summary>A tracepoint with 2 arguments. Names are for kinds other than messages.</summary>
        public Tracepoint<T1, T2> With<T1, T2>(string name1 = null, string name2 = null) => new Tracepoint<T1, T2>(this, name1, name2);

        /// <summary>A tracepoint with 3 arguments. Names are for kinds other than messages.</summary>
        public Tracepoint<T1, T2, T3> With<T1, T2, T3>(string name1 = null, string name2 = null, string name3 = null) => new Tracepoint<T1, T2, T3>(this, name1, name2, name3);

        /// <summary>A tracepoint with 4 arguments. Names are for kinds other than messages.</summary>
        public Tracepoint<T1, T2, T3, T4> With<T1, T2, T3, T4>(string name1 = null, string name2 = null, string name3 = null, string name4 = null) => new Tracepoint<T1, T2, T3, T4>(this, name1, name2, name3, name4);

        /// <summary>A tracepoint with 5 arguments. Names are for kinds other than messages.</summary>
        public Tracepoint<T1, T2, T3, T4, T5> With<T1, T2, T3, T4, T5>(string name1 = null, string name2 = null, string name3 = null, string name4 = null, string name5 = null) => new Tracepoint<T1, T2, T3, T4, T5>(this, name1, name2, name3, name4, name5);

        /// <summary>A tracepoint with 6 arguments. Names are for kinds other than messages.</summary>
        public Tracepoint<T1, T2, T3, T4, T5, T6> With<T1, T2, T3, T4, T5, T6>(string name1 = null, string name2 = null, string name3 = null, string name4 = null, string name5 = null, string name6 = null) => new Tracepoint<T1, T2, T3, T4, T5, T6>(this, name1, name2, name3, name4, name5, name6);
    }
}
