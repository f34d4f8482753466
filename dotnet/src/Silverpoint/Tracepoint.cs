using System;
using System.Runtime.CompilerServices;

namespace Silverpoint
{
    /// <summary>
    /// A place that records. Make one for each place, keep it in a static field, and use it from any thread.
    /// While it is off, a record costs a load and a branch; its arguments are evaluated by the caller, so check
    /// <see cref="IsEnabled"/> before costly ones. While it is on, a record of numbers and short texts allocates
    /// nothing and takes no lock. It may wait, at most for a second, when the thread fills its ring faster than
    /// the collector empties it. Nothing here throws, except what the arguments' own getters and enumerators throw.
    /// </summary>
    public unsafe class Tracepoint
    {
        internal readonly NativeSite* Site;
        internal readonly Kind Kind;
        private readonly string names;
        private readonly string text;
        internal readonly string Signature;

        internal Tracepoint(TracepointDescription description, string signature, params string[] argumentNames) : this(description, signature, description.Kind != Kind.Log, argumentNames) { }

        internal Tracepoint(TracepointDescription description, string signature, bool isNamed, string[] argumentNames)
        {
            Kind = description.Kind;
            text = description.Text;
            Signature = signature;
            names = "";
            if (isNamed)
                for (int i = 0; i < argumentNames.Length; ++i)
                    names += (argumentNames[i] ?? Tracepoint.NameOf(Kind, i)).Replace('\n', ' ') + "\n";
            Site = Native.MakeSite(description.Level, description.Line, description.File, description.Function, description.Category, Content(description, names, signature));
        }

        // A message of a site that exists.
        internal Tracepoint(TracepointDescription description, string signature, NativeSite* site)
        {
            Kind = description.Kind;
            text = description.Text;
            Signature = signature;
            names = "";
            Site = site;
        }

        // What sites of one place differ by.
        internal static string Content(TracepointDescription description, string names, string signature) => (char)('0' + (int)description.Kind) + names + "\0" + description.Text + "\0" + signature;

        private static string NameOf(Kind kind, int argument)
        {
            if (kind == Kind.Link) return argument == 0 ? "from" : "to";
            if (kind == Kind.Counter && argument == 0) return "value";
            if (kind >= Kind.AsyncBegin && kind <= Kind.FlowEnd && argument == 0) return "id";
            return "argument" + (argument + 1).ToString(System.Globalization.CultureInfo.InvariantCulture);
        }

        /// <summary>Whether a record would be made now: a load. Directives change it while the program runs.</summary>
        public bool IsEnabled
        {
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            get
            {
                byte state = *Site->State;
                return state != 0 && (state == 1 || Native.Wants(Site, state));
            }
        }

        // The first recording: the site becomes an entry of the session. 0: there is no room for it.
        internal ulong Complete() => Native.Complete(Site, Kind, names, text, Signature, 0);

        /// <summary>Records without arguments.</summary>
        /// <exception cref="InvalidOperationException">The tracepoint has arguments.</exception>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Record()
        {
            if (*Site->State != 0) WriteNothing();
        }

        private ulong WriteNothing()
        {
            if (Signature.Length != 0) throw new InvalidOperationException("silverpoint: this tracepoint has arguments: " + text);
            var arguments = new NoArguments();
            return Ring.Write(this, ref arguments);
        }

        /// <summary>Begins a span, which ends when the result is disposed of, in the same thread.</summary>
        /// <exception cref="InvalidOperationException">The tracepoint is no span.</exception>
        public TraceSpan Begin() => IsSpan && *Site->State != 0 ? new TraceSpan(Site, WriteNothing()) : default(TraceSpan);

        // True, or an error.
        internal bool IsSpan => Kind == Kind.Span ? true : throw new InvalidOperationException("silverpoint: Begin needs a tracepoint made by Tracepoint.Span: " + text);

        /// <summary>A message with a template: <c>Tracepoint.Log("shop", Level.Info, "order {} at {:.2f}").With&lt;int, double&gt;()</c>.
        /// The template's grammar is that of std::format; arguments stand in their order.</summary>
        public static TracepointDescription Log(string category, Level level, string template, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "") =>
            new TracepointDescription(Kind.Log, category, level, template, file, line, function);

        /// <summary>A name and named arguments: <c>Tracepoint.Event("shop", Level.Info, "order.filled").With&lt;int&gt;("id")</c>.</summary>
        public static TracepointDescription Event(string category, Level level, string name, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "") =>
            new TracepointDescription(Kind.Event, category, level, name, file, line, function);

        /// <summary>A span of time in one thread; use <c>Begin</c>.</summary>
        public static TracepointDescription Span(string category, string name, Level level = Level.Debug, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "") =>
            new TracepointDescription(Kind.Span, category, level, name, file, line, function);

        /// <summary>A number that changes: one argument.</summary>
        public static TracepointDescription Counter(string category, string name, Level level = Level.Debug, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "") =>
            new TracepointDescription(Kind.Counter, category, level, name, file, line, function);

        /// <summary>A point in time.</summary>
        public static TracepointDescription Instant(string category, string name, Level level = Level.Debug, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "") =>
            new TracepointDescription(Kind.Instant, category, level, name, file, line, function);

        /// <summary>The begin of something that may end in another thread. The first argument is an id of <see cref="NewId"/>, an <see cref="ulong"/>.</summary>
        public static TracepointDescription AsyncBegin(string category, string name, Level level = Level.Debug, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "") =>
            new TracepointDescription(Kind.AsyncBegin, category, level, name, file, line, function);

        /// <summary>The end of what <see cref="AsyncBegin"/> of the same category and name has begun. The argument is its id.</summary>
        public static TracepointDescription AsyncEnd(string category, string name, Level level = Level.Debug, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "") =>
            new TracepointDescription(Kind.AsyncEnd, category, level, name, file, line, function);

        /// <summary>A point between <see cref="AsyncBegin"/> and <see cref="AsyncEnd"/> of the same category and name. The first argument is the id.</summary>
        public static TracepointDescription AsyncInstant(string category, string name, Level level = Level.Debug, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "") =>
            new TracepointDescription(Kind.AsyncInstant, category, level, name, file, line, function);

        /// <summary>The begin of a flow, which joins records of several threads by an id, the argument.</summary>
        public static TracepointDescription FlowBegin(string category, string name, Level level = Level.Debug, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "") =>
            new TracepointDescription(Kind.FlowBegin, category, level, name, file, line, function);

        /// <summary>A step of a flow. The argument is its id.</summary>
        public static TracepointDescription FlowStep(string category, string name, Level level = Level.Debug, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "") =>
            new TracepointDescription(Kind.FlowStep, category, level, name, file, line, function);

        /// <summary>The end of a flow. The argument is its id.</summary>
        public static TracepointDescription FlowEnd(string category, string name, Level level = Level.Debug, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "") =>
            new TracepointDescription(Kind.FlowEnd, category, level, name, file, line, function);

        /// <summary>Says that the thing with the id of the second argument came from the one with the id of the first.</summary>
        public static TracepointDescription Link(string category, Level level = Level.Debug, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "") =>
            new TracepointDescription(Kind.Link, category, level, "link", file, line, function);

        /// <summary>A number that no other call in this session gives; never 0.</summary>
        public static ulong NewId() => Native.IsThere ? Native.spn_new_id() : 1;
    }

    /// <summary>An open span. Dispose of it once, in the thread that began it.</summary>
    public readonly unsafe struct TraceSpan : IDisposable
    {
        private readonly NativeSite* site;
        private readonly ulong ticks;

        internal TraceSpan(NativeSite* site, ulong ticks)
        {
            this.site = site;
            this.ticks = ticks;
        }

        /// <summary>Ends the span; nothing when it was off.</summary>
        public void Dispose()
        {
            if (ticks != 0) Ring.EndSpan(site, ticks);
        }
    }
}
