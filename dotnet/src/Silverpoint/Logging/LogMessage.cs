using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text;

namespace Silverpoint
{
    /// <summary>A level as a type, for <see cref="LogMessage{TLevel}"/>.</summary>
    public interface ILogLevel
    {
        /// <summary>The level.</summary>
        Level Level { get; }
    }

    /// <summary>Trace.</summary>
    public struct AtTrace : ILogLevel
    {
        /// <summary>Trace.</summary>
        public Level Level => Level.Trace;
    }

    /// <summary>Debug.</summary>
    public struct AtDebug : ILogLevel
    {
        /// <summary>Debug.</summary>
        public Level Level => Level.Debug;
    }

    /// <summary>Info.</summary>
    public struct AtInfo : ILogLevel
    {
        /// <summary>Info.</summary>
        public Level Level => Level.Info;
    }

    /// <summary>Warn.</summary>
    public struct AtWarn : ILogLevel
    {
        /// <summary>Warn.</summary>
        public Level Level => Level.Warn;
    }

    /// <summary>Error.</summary>
    public struct AtError : ILogLevel
    {
        /// <summary>Error.</summary>
        public Level Level => Level.Error;
    }

    /// <summary>Fatal.</summary>
    public struct AtFatal : ILogLevel
    {
        /// <summary>Fatal.</summary>
        public Level Level => Level.Fatal;
    }

    /// <summary>
    /// What the compiler makes of <c>log.Info($"order {id}")</c>: the values are packed one by one, the texts between them are
    /// the template. While the place is off no hole is evaluated. Do not use it directly.
    /// </summary>
    [InterpolatedStringHandler]
    public ref struct LogMessage<TLevel> where TLevel : struct, ILogLevel
    {
        // Limits of a record (spec/wire.md, section 10).
        private const int MostValues = 255, MostSignature = 16384;

        private readonly LogPlace place;
        private readonly Writer writer;
        // The message as one text: it has more values than a record may have arguments.
        private readonly StringBuilder whole;
        private int count;
        // Bytes that signatures may have beyond one for each value.
        private int room;

        /// <summary>Called by the compiler.</summary>
        public LogMessage(int literalLength, int formattedCount, Logger logger, out bool isOn, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "")
        {
            place = LogPlace.Find(logger.Category, default(TLevel).Level, file, line, function);
            isOn = place.IsOn;
            whole = isOn && formattedCount > MostValues ? new StringBuilder() : null;
            writer = isOn && whole == null ? Writer.Take(formattedCount) : null;
            count = 0;
            room = MostSignature - formattedCount;
        }

        /// <summary>Called by the compiler.</summary>
        public void AppendLiteral(string text)
        {
            if (whole != null) whole.Append(text);
            else Add(text);
        }

        /// <summary>Called by the compiler.</summary>
        public void AppendFormatted<T>(T value)
        {
            if (whole != null) whole.AppendFormat(CultureInfo.InvariantCulture, "{0}", value);
            else Put(LogForm<T>.Plain, value);
        }

        /// <summary>Called by the compiler.</summary>
        public void AppendFormatted<T>(T value, string format)
        {
            LogForm form = string.IsNullOrEmpty(format) ? LogForm<T>.Plain : LogForm<T>.For(format, value);
            if (form == LogForm<T>.Shown || whole != null) Show(value, "{0:" + format + "}");
            else Put(form, value);
        }

        /// <summary>Called by the compiler.</summary>
        public void AppendFormatted<T>(T value, int alignment) => Show(value, "{0," + alignment.ToString(CultureInfo.InvariantCulture) + "}");

        /// <summary>Called by the compiler.</summary>
        public void AppendFormatted<T>(T value, int alignment, string format) => Show(value, "{0," + alignment.ToString(CultureInfo.InvariantCulture) + ":" + format + "}");

        // .NET's own text, and the value.
        private void Show<T>(T value, string item)
        {
            string text = string.Format(CultureInfo.InvariantCulture, item, value);
            if (whole != null)
            {
                whole.Append(text);
                return;
            }
            bool fits = Fits(LogForm<T>.Shown);
            Add(fits ? LogForm<T>.Shown : LogForm<T>.Text);
            writer.PutArgument(text);
            if (fits) Put(value);
        }

        // A value whose signature has no room any more carries its own types.
        private void Put<T>(LogForm form, T value)
        {
            bool fits = Fits(form);
            Add(fits ? form : LogForm<T>.Any);
            writer.Next();
            if (fits) Put(value);
            else Items.PutArgument(writer, value);
        }

        private bool Fits(LogForm form)
        {
            int more = form.Signature.Length - 1;
            if (more > room) return false;
            room -= more;
            return true;
        }

        private void Add(object part)
        {
            if (count == writer.Parts.Length) System.Array.Resize(ref writer.Parts, 2 * count);
            writer.Parts[count++] = part;
        }

        private unsafe void Put<T>(T value)
        {
            int size = Direct.Size(value);
            if (size < 0 || size > 64)
            {
                Codec<T>.Packer.Put(writer, value);
                return;
            }
            byte* at = writer.Reserve(size);
            if (at != null) Direct.Put(at, value);
        }

        // Records the message, if it is on.
        internal void End()
        {
            if (whole != null) place.Text.Record(whole.ToString());
            if (writer == null) return;
            try
            {
                Tracepoint point = place.Find(writer.Parts, count);
                if (point != null) Ring.Write(point, writer);
                else Native.spn_lose(Native.NoSite);
            }
            finally
            {
                writer.GiveBack();
            }
        }
    }
}
