using System;
using System.Runtime.CompilerServices;

namespace Silverpoint
{
    /// <summary>
    /// Records messages of one category: <c>log.Info($"order {id} at {price:F2}")</c>. The text is a template, the values keep
    /// their types, and are not evaluated while the place is off. Keep it in a static field; all threads may use it.
    /// Numbers and short texts make no garbage. Formats other than F, D and X with at most one digit, and alignments, cost a
    /// text. Then the record has both, .NET's text and the value.
    /// </summary>
    public sealed class Logger
    {
        internal readonly string Category;

        /// <summary>A logger of this category, a name with colons: <c>net::tcp</c>.</summary>
        /// <exception cref="ArgumentNullException">There is no name.</exception>
        public Logger(string category)
        {
            if (category == null) throw new ArgumentNullException(nameof(category));
            Category = string.Intern(category);
        }

        private void Record(Level level, string text, string file, int line, string function)
        {
            LogPlace place = LogPlace.Find(Category, level, file, line, function);
            if (place.IsOn) place.Text.Record(text);
        }

        /// <summary>Every detail.</summary>
        public void Trace([InterpolatedStringHandlerArgument("")] ref LogMessage<AtTrace> message) => message.End();

        /// <summary>Every detail: a text.</summary>
        public void Trace(string text, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "") => Record(Level.Trace, text, file, line, function);

        /// <summary>For those who search for a fault.</summary>
        public void Debug([InterpolatedStringHandlerArgument("")] ref LogMessage<AtDebug> message) => message.End();

        /// <summary>For those who search for a fault: a text.</summary>
        public void Debug(string text, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "") => Record(Level.Debug, text, file, line, function);

        /// <summary>What happens.</summary>
        public void Info([InterpolatedStringHandlerArgument("")] ref LogMessage<AtInfo> message) => message.End();

        /// <summary>What happens: a text.</summary>
        public void Info(string text, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "") => Record(Level.Info, text, file, line, function);

        /// <summary>What deserves attention.</summary>
        public void Warn([InterpolatedStringHandlerArgument("")] ref LogMessage<AtWarn> message) => message.End();

        /// <summary>What deserves attention: a text.</summary>
        public void Warn(string text, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "") => Record(Level.Warn, text, file, line, function);

        /// <summary>What failed.</summary>
        public void Error([InterpolatedStringHandlerArgument("")] ref LogMessage<AtError> message) => message.End();

        /// <summary>What failed: a text.</summary>
        public void Error(string text, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "") => Record(Level.Error, text, file, line, function);

        /// <summary>Why the program cannot go on.</summary>
        public void Fatal([InterpolatedStringHandlerArgument("")] ref LogMessage<AtFatal> message) => message.End();

        /// <summary>Why the program cannot go on: a text.</summary>
        public void Fatal(string text, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "") => Record(Level.Fatal, text, file, line, function);
    }
}
