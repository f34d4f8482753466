using System.Threading;

namespace Silverpoint
{
    // What a source records at one level: its tracepoints, each made at its first record.
    internal sealed class TraceSite
    {
        // Sites of different texts; further texts are arguments. Programs may make their texts at run time.
        private const int MostFormats = 2000;

        private readonly string source;
        private readonly Level level;
        private readonly BoundedTable<string, Slot> formats = new BoundedTable<string, Slot>(MostFormats);
        // By what there is of an event.
        private readonly Tracepoint[] named = new Tracepoint[EventArguments.MostParts];

        internal sealed class Slot
        {
            internal FormatSite First;
            internal FormatSite FirstWithId;
        }

        // A text, without more.
        internal readonly Tracepoint<string> Text;

        internal TraceSite(string source, Level level)
        {
            this.source = source;
            this.level = level;
            Text = Tracepoint.Log(source, level, "{}", "", 0, "").With<string>();
        }

        internal Tracepoint Make(string template, string signature) => new Tracepoint(Tracepoint.Log(source, level, template, "", 0, ""), signature);

        internal Tracepoint MakeNamed(string template, string signature, string[] names) => new ExtendedTracepoint(Tracepoint.Log(source, level, template, "", 0, ""), signature, names);

        // Null: there are too many format strings.
        internal Slot OfFormat(string format) => formats.FindOrAdd(format, 0, (key, none) => new Slot());

        // Of arguments with names: the first is the text, the others follow it.
        internal Tracepoint Named(ref EventArguments arguments)
        {
            int parts = arguments.Parts;
            return Volatile.Read(ref named[parts]) ?? MakeNamed(ref arguments, parts);
        }

        private Tracepoint MakeNamed(ref EventArguments arguments, int parts)
        {
            lock (named)
            {
                if (named[parts] == null) Volatile.Write(ref named[parts], MakeNamed("{}", arguments.Signature, arguments.Names.Split(' ')));
                return named[parts];
            }
        }
    }

    // A message whose arguments have names.
    internal sealed class ExtendedTracepoint : Tracepoint
    {
        internal ExtendedTracepoint(TracepointDescription description, string signature, string[] names) : base(description, signature, true, names) { }
    }
}
