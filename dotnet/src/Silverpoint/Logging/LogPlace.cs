using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;

namespace Silverpoint
{
    // A call of the logger in the source: found by its file and line at each call.
    internal sealed unsafe class LogPlace
    {
        private const int Slots = 4096;
        // Messages of one line: those that stand in it, and for each the ways to show its values. Others are lost, and counted.
        private const int MostVariants = 512;

        private static readonly LogPlace[] places = new LogPlace[Slots];

        private readonly string file;
        private readonly int line;
        private readonly string function;
        private readonly string category;
        private readonly Level level;
        private readonly LogPlace next;
        private LogVariant first;
        private Tracepoint<string> text;

        // Says whether the place is on. The first message has it.
        internal readonly NativeSite* Site;

        private LogPlace(string category, Level level, string file, int line, string function, LogPlace next)
        {
            this.category = category;
            this.level = level;
            this.file = file;
            this.line = line;
            this.function = function;
            this.next = next;
            Site = Native.MakeSite(level, line, file, function, category, "");
        }

        internal static LogPlace Find(string category, Level level, string file, int line, string function)
        {
            int slot = (file.Length * 31 + line) & (Slots - 1);
            for (LogPlace one = Volatile.Read(ref places[slot]); one != null; one = one.next)
                if (one.Is(category, level, file, line)) return one;
            return Add(slot, category, level, file, line, function);
        }

        // (The file is one object for each file, but another one when the program loads the code again.)
        private bool Is(string otherCategory, Level otherLevel, string otherFile, int otherLine) =>
            line == otherLine && level == otherLevel && (object)category == (object)otherCategory && ((object)file == (object)otherFile || file == otherFile);

        private static LogPlace Add(int slot, string category, Level level, string file, int line, string function)
        {
            lock (places)
            {
                LogPlace head = places[slot];
                for (LogPlace one = head; one != null; one = one.next)
                    if (one.Is(category, level, file, line)) return one;
                var made = new LogPlace(category, level, file, line, function, head);
                Volatile.Write(ref places[slot], made);
                return made;
            }
        }

        internal bool IsOn
        {
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            get
            {
                byte state = *Site->State;
                return state != 0 && (state == 1 || Native.Wants(Site, state));
            }
        }

        // A message that is one text.
        internal Tracepoint<string> Text
        {
            get
            {
                if (text == null) text = new TracepointDescription(Kind.Log, category, level, "{}", file, line, function).With<string>();
                return text;
            }
        }

        // The message with these parts: literal texts and forms of holes, in turn. Null: there are too many.
        internal Tracepoint Find(object[] parts, int count)
        {
            for (LogVariant one = Volatile.Read(ref first); one != null; one = one.Next)
                if (one.Has(parts, count)) return one.Point;
            return Add(parts, count);
        }

        private Tracepoint Add(object[] parts, int count)
        {
            lock (this)
            {
                int variants = 0;
                for (LogVariant one = first; one != null; one = one.Next, ++variants)
                    if (one.Has(parts, count)) return one.Point;
                if (variants >= MostVariants) return null;
                var template = new StringBuilder();
                var signature = new StringBuilder();
                for (int i = 0; i < count; ++i)
                {
                    var form = parts[i] as LogForm;
                    if (form == null)
                    {
                        template.Append(CompositeFormat.Escape((string)parts[i]));
                        continue;
                    }
                    template.Append(CompositeFormat.Hole(form.Specification));
                    signature.Append(form.Signature);
                }
                var description = new TracepointDescription(Kind.Log, category, level, template.ToString(), file, line, function);
                bool isFirst = variants == 0 && Native.Claim(Site, template + "\0" + signature);
                var point = isFirst ? new Tracepoint(description, signature.ToString(), Site) : new Tracepoint(description, signature.ToString());
                Volatile.Write(ref first, new LogVariant(parts, count, point, first));
                return point;
            }
        }
    }

    internal sealed class LogVariant
    {
        private readonly object[] parts;
        internal readonly Tracepoint Point;
        internal readonly LogVariant Next;

        internal LogVariant(object[] all, int count, Tracepoint point, LogVariant next)
        {
            parts = new object[count];
            System.Array.Copy(all, parts, count);
            Point = point;
            Next = next;
        }

        internal bool Has(object[] others, int count)
        {
            object[] own = parts;
            if (own.Length != count) return false;
            for (int i = 0; i < own.Length; ++i)
                if (own[i] != others[i] && !IsSameText(own[i], others[i])) return false;
            return true;
        }

        // Two objects of one text: of code that was compiled twice.
        private static bool IsSameText(object one, object other) => one is string && other is string && (string)one == (string)other;
    }
}
