using System;
using System.Diagnostics;
using System.Globalization;
using System.Threading;

namespace Silverpoint
{
    /// <summary>
    /// Records what a program writes with <see cref="Trace"/>, <see cref="Debug"/> and <see cref="TraceSource"/>.
    /// Add it to a collection of listeners, or name it in app.config; <see cref="SilverpointTrace.Install()"/> does this for
    /// all sources. It may be used from all threads at once and takes no lock to record a line.
    /// </summary>
    /// <remarks>
    /// Text written by Write belongs to the line that its thread has begun. The line is recorded when it ends, when it is
    /// longer than 4,096 characters, or at <see cref="Close"/>. With <c>lines=pieces</c> each Write is a record at once.
    /// The category of a record is the source's name, or the category that the caller gives.
    /// </remarks>
    public class SilverpointTraceListener : TraceListener
    {
        private const int MostSources = 1000;
        private static readonly char[] slashes = { '/', '\\' };

        private readonly ListenerSettings settings;
        private readonly TraceSite written;
        private readonly BoundedTable<string, TraceSite>[] sources = new BoundedTable<string, TraceSite>[6];
        // What further sources record at each level: the category is the listener's.
        private readonly BoundedTable<Level, TraceSite> others = new BoundedTable<Level, TraceSite>(6);
        // Replaced at Close: the values of threads lead to this listener, and would keep it alive as long as the threads.
        private volatile ThreadLocal<PartialLine> lines;
        // Some thread has begun a line. A thread that has done so sees it; the others have none that they could end.
        private bool hasLines;
        private readonly bool isDerived;

        /// <summary>A listener with the usual settings.</summary>
        public SilverpointTraceListener() : this("") { }

        /// <summary>A listener with settings, as app.config has them in initializeData: <c>category=shop; level=debug; lines=pieces; assert=throw</c>.</summary>
        /// <exception cref="ArgumentException">A setting is not known.</exception>
        public SilverpointTraceListener(string initializeData) : base("Silverpoint")
        {
            settings = ListenerSettings.Parse(initializeData);
            for (int i = 0; i < sources.Length; ++i) sources[i] = new BoundedTable<string, TraceSite>(MostSources);
            written = SiteOf(settings.Category, settings.Level);
            isDerived = GetType() != typeof(SilverpointTraceListener);
            lines = NewLines();
        }

        // Whether Debug.Assert, Trace.Assert and Fail throw behind their record.
        internal bool ThrowsOnFail => settings.Throws;

        /// <summary>True.</summary>
        public override bool IsThreadSafe => true;

        /// <summary>Adds text to the line that the thread has begun.</summary>
        public override void Write(string message)
        {
            if (string.IsNullOrEmpty(message)) return;
            if (!settings.JoinsLines)
            {
                RecordLine(message, Indentation);
                return;
            }
            int end = message.Length;
            if (message[end - 1] == '\n')
            {
                --end;
                if (end > 0 && message[end - 1] == '\r') --end;
                // A program's own WriteLine may change the text.
                if (isDerived) WriteLine(message.Substring(0, end));
                else EndLine(message, message.Length - end);
                return;
            }
            string whole = lines.Value.Add(message, Indentation);
            if (whole != null) RecordText(whole);
        }

        /// <summary>Records the line that the thread has begun, with this text at its end.</summary>
        public override void WriteLine(string message) => EndLine(message ?? "", 0);

        /// <summary>Records a line of this category.</summary>
        public override void WriteLine(string message, string category)
        {
            if (!Passes("", TraceEventType.Verbose, 0, message, null, null, null)) return;
            if (string.IsNullOrEmpty(category) || HasBegun)
            {
                WriteLine(category == null ? message : category + ": " + message);
                return;
            }
            var argument = new TextArgument { Text = message ?? "", Indent = Indentation };
            Ring.Write(SiteOf(category, settings.Level).Text, ref argument);
        }

        /// <summary>Records an event.</summary>
        public override void TraceEvent(TraceEventCache eventCache, string source, TraceEventType eventType, int id, string message)
        {
            if (!Passes(source, eventType, id, message, null, null, null)) return;
            TraceSite site = SiteOf(CategoryOf(source), LevelOf(eventType));
            if (id == 0 && !HasExtras)
            {
                var text = new TextArgument { Text = message ?? "", Indent = Indentation };
                Ring.Write(site.Text, ref text);
                return;
            }
            var arguments = new EventArguments { Text = message ?? "" };
            RecordEvent(site, id, ref arguments);
        }

        /// <summary>Records an event with typed arguments. Its text is what string.Format prints with the invariant culture.</summary>
        public override void TraceEvent(TraceEventCache eventCache, string source, TraceEventType eventType, int id, string format, params object[] args)
        {
            if (!Passes(source, eventType, id, format, args, null, null)) return;
            TraceSite site = SiteOf(CategoryOf(source), LevelOf(eventType));
            if (args == null || args.Length == 0 || format == null)
            {
                var plain = new EventArguments { Text = format ?? "" };
                RecordEvent(site, id, ref plain);
                return;
            }
            if (!HasExtras && Indentation == 0)
            {
                TraceSite.Slot slot = site.OfFormat(format);
                FormatSite found = slot == null ? null : id == 0 ? FormatSite.Find(site, format, args, false, ref slot.First) : FormatSite.Find(site, format, args, true, ref slot.FirstWithId);
                if (found != null && found.IsTyped)
                {
                    var typed = new FormatArguments { Site = found, Arguments = args, Id = id };
                    try
                    {
                        Ring.Write(found.Point, ref typed);
                        return;
                    }
                    catch (FormatException)
                    {
                        // An argument refuses its format: all are recorded as one text.
                    }
                }
            }
            var arguments = new EventArguments { Text = FormatSite.Text(format, args) };
            RecordEvent(site, id, ref arguments);
        }

        /// <summary>Records an event without text.</summary>
        public override void TraceEvent(TraceEventCache eventCache, string source, TraceEventType eventType, int id) => TraceEvent(eventCache, source, eventType, id, "");

        /// <summary>Records a value with its parts: one record.</summary>
        public override void TraceData(TraceEventCache eventCache, string source, TraceEventType eventType, int id, object data)
        {
            if (!Passes(source, eventType, id, null, null, data, null)) return;
            var arguments = new EventArguments { Data = data, HasData = true };
            RecordEvent(SiteOf(CategoryOf(source), LevelOf(eventType)), id, ref arguments);
        }

        /// <summary>Records several values: one record.</summary>
        public override void TraceData(TraceEventCache eventCache, string source, TraceEventType eventType, int id, params object[] data)
        {
            if (!Passes(source, eventType, id, null, null, null, data)) return;
            var arguments = new EventArguments { Data = data, HasData = true };
            RecordEvent(SiteOf(CategoryOf(source), LevelOf(eventType)), id, ref arguments);
        }

        /// <summary>Records that work goes on under another activity.</summary>
        public override void TraceTransfer(TraceEventCache eventCache, string source, int id, string message, Guid relatedActivityId)
        {
            if (!Passes(source, TraceEventType.Transfer, id, message, null, null, null)) return;
            var arguments = new EventArguments { Text = message ?? "", Related = relatedActivityId };
            RecordEvent(SiteOf(CategoryOf(source), Level.Info), id, ref arguments);
        }

        /// <summary>Records a failed assertion and its stack, of level error. The program goes on.</summary>
        /// <exception cref="AssertionFailedException"><c>assert=throw</c> is set.</exception>
        public override void Fail(string message) => Fail(message, null);

        /// <summary>Records a failed assertion with details and its stack, of level error. The program goes on.</summary>
        /// <exception cref="AssertionFailedException"><c>assert=throw</c> is set.</exception>
        public override void Fail(string message, string detailMessage)
        {
            string text = "assertion failed";
            if (!string.IsNullOrEmpty(message)) text += ": " + message;
            if (!string.IsNullOrEmpty(detailMessage)) text += " " + detailMessage;
            var arguments = new EventArguments { Text = text, Stack = Stack() };
            Ring.Write(SiteOf("assert", Level.Error).Named(ref arguments), ref arguments);
            if (settings.Throws) throw new AssertionFailedException(text);
        }

        /// <summary>Does nothing and costs nothing: a record is safe as soon as it is made.</summary>
        public override void Flush() { }

        /// <summary>Records the lines that threads have begun. The listener goes on to work. Nothing keeps it in memory until a thread begins a line again.</summary>
        public override void Close()
        {
            OpenListeners.Remove(this);
            lines = NewLines();
            PartialLine.EndAll(this);
        }

        /// <summary>As <see cref="Close"/>.</summary>
        protected override void Dispose(bool disposing)
        {
            if (disposing) Close();
            base.Dispose(disposing);
        }

        internal void RecordText(string text) => RecordLine(text, 0);

        private ThreadLocal<PartialLine> NewLines() => new ThreadLocal<PartialLine>(BeginLines);

        // For the first line that a thread begins.
        private PartialLine BeginLines()
        {
            OpenListeners.Add(this);
            hasLines = true;
            return new PartialLine(this);
        }

        // Whether the thread has begun a line.
        private bool HasBegun => hasLines && lines.IsValueCreated && lines.Value.IsBegun;

        // Records the line that the thread has begun, or a whole one, without so many characters at the end of the text.
        private void EndLine(string text, int leftOut)
        {
            if (HasBegun) RecordText(lines.Value.Take(text.Substring(0, text.Length - leftOut)));
            else RecordLine(text, Indentation, leftOut);
        }

        private int Indentation => TextArgument.Blanks(IndentLevel, IndentSize);

        private bool HasExtras => (TraceOutputOptions & (TraceOptions.Callstack | TraceOptions.LogicalOperationStack)) != 0;

        private void RecordLine(string text, int indent, int leftOut = 0)
        {
            var argument = new TextArgument { Text = text, Indent = indent, LeftOut = leftOut };
            Ring.Write(written.Text, ref argument);
        }

        private void RecordEvent(TraceSite site, int id, ref EventArguments arguments)
        {
            if (arguments.Text != null && Indentation > 0) arguments.Text = new string(' ', Indentation) + arguments.Text;
            if (id != 0) arguments.Id = id;
            if ((TraceOutputOptions & TraceOptions.Callstack) != 0) arguments.Stack = Stack();
            if ((TraceOutputOptions & TraceOptions.LogicalOperationStack) != 0) arguments.Operations = Trace.CorrelationManager.LogicalOperationStack.ToArray();
            Ring.Write(site.Named(ref arguments), ref arguments);
        }

        // From the first function that is neither this listener nor the framework's.
        private static string Stack()
        {
            StackFrame[] frames = new StackTrace(false).GetFrames();
            int own = 0;
            while (own + 1 < frames.Length)
            {
                System.Reflection.MethodBase method = frames[own].GetMethod();
                string space = method == null || method.DeclaringType == null ? "" : method.DeclaringType.Namespace;
                if (space != "System.Diagnostics" && space != "Silverpoint") break;
                ++own;
            }
            return new StackTrace(own, true).ToString().Trim();
        }

        private bool Passes(string source, TraceEventType type, int id, string message, object[] arguments, object data, object[] several)
        {
            TraceFilter filter = Filter;
            return filter == null || filter.ShouldTrace(null, source, type, id, message, arguments, data, several);
        }

        // The static Trace names the program's path as its source.
        private string CategoryOf(string source)
        {
            if (string.IsNullOrEmpty(source)) return settings.Category;
            int slash = source.LastIndexOfAny(slashes);
            return slash >= 0 && slash + 1 < source.Length ? source.Substring(slash + 1) : source;
        }

        private TraceSite SiteOf(string category, Level level) =>
            sources[(int)level].FindOrAdd(category, level, (key, of) => new TraceSite(key, of)) ?? others.FindOrAdd(level, settings.Category, (of, key) => new TraceSite(key, of));

        private static Level LevelOf(TraceEventType type)
        {
            switch (type)
            {
                case TraceEventType.Critical: return Level.Fatal;
                case TraceEventType.Error: return Level.Error;
                case TraceEventType.Warning: return Level.Warn;
                case TraceEventType.Verbose: return Level.Debug;
                default: return Level.Info;
            }
        }
    }

    /// <summary>An assertion failed, and the program has asked for an exception (<see cref="SilverpointTraceListener.ThrowsOnFail"/>).</summary>
    public class AssertionFailedException : Exception
    {
        /// <summary>With what the assertion says.</summary>
        public AssertionFailedException(string message) : base(message) { }
    }
}
