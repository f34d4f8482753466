using System.Globalization;
using System.Runtime.CompilerServices;

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
        private readonly LogPlace place;
        private readonly Writer writer;
        private int count;

        /// <summary>Called by the compiler.</summary>
        public LogMessage(int literalLength, int formattedCount, Logger logger, out bool isOn, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "")
        {
            place = LogPlace.Find(logger.Category, default(TLevel).Level, file, line, function);
            isOn = place.IsOn;
            writer = isOn ? Writer.Take(formattedCount) : null;
            count = 0;
        }

        /// <summary>Called by the compiler.</summary>
        public LogMessage(int literalLength, int formattedCount, out bool isOn, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "")
            : this(literalLength, formattedCount, Log.Default, out isOn, file, line, function) { }

        /// <summary>Called by the compiler.</summary>
        public void AppendLiteral(string text) => Add(text);

        /// <summary>Called by the compiler.</summary>
        public void AppendFormatted<T>(T value)
        {
            Add(LogForm<T>.Plain);
            writer.Next();
            Put(value);
        }

        /// <summary>Called by the compiler.</summary>
        public void AppendFormatted<T>(T value, string format)
        {
            LogForm<T> form = string.IsNullOrEmpty(format) ? LogForm<T>.Plain : LogForm<T>.For(format, value);
            if (form == LogForm<T>.Shown)
            {
                Show(value, "{0:" + format + "}");
                return;
            }
            Add(form);
            writer.Next();
            Put(value);
        }

        /// <summary>Called by the compiler.</summary>
        public void AppendFormatted<T>(T value, int alignment) => Show(value, "{0," + alignment.ToString(CultureInfo.InvariantCulture) + "}");

        /// <summary>Called by the compiler.</summary>
        public void AppendFormatted<T>(T value, int alignment, string format) => Show(value, "{0," + alignment.ToString(CultureInfo.InvariantCulture) + ":" + format + "}");

        // .NET's own text, and the value.
        private void Show<T>(T value, string item)
        {
            string text = string.Format(CultureInfo.InvariantCulture, item, value);
            Add(LogForm<T>.Shown);
            writer.Next();
            writer.PutText(text);
            Put(value);
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
