using System;

namespace Silverpoint
{
    // What initializeData says: `category=shop; lines=pieces; assert=throw`.
    internal sealed class ListenerSettings
    {
        internal string Category = "trace";
        internal Level Level = Level.Info;
        internal bool JoinsLines = true;
        internal bool Throws;

        internal static ListenerSettings Parse(string text)
        {
            var settings = new ListenerSettings();
            foreach (string part in (text ?? "").Split(';'))
            {
                if (part.Trim().Length == 0) continue;
                int equals = part.IndexOf('=');
                string key = (equals < 0 ? part : part.Substring(0, equals)).Trim(), value = equals < 0 ? "" : part.Substring(equals + 1).Trim();
                switch (key)
                {
                    case "category": settings.Category = value; break;
                    case "level": settings.Level = LevelOf(value, part); break;
                    case "lines": settings.JoinsLines = OneOf(value, "joined", "pieces", part); break;
                    case "assert": settings.Throws = !OneOf(value, "record", "throw", part); break;
                    default: throw Wrong(part, "the keys are category, level, lines and assert");
                }
            }
            return settings;
        }

        private static Level LevelOf(string value, string part)
        {
            Level level;
            if (!Enum.TryParse(value, true, out level) || !Enum.IsDefined(typeof(Level), level)) throw Wrong(part, "a level is trace, debug, info, warn, error or fatal");
            return level;
        }

        private static bool OneOf(string value, string first, string second, string part)
        {
            if (value == first) return true;
            if (value == second) return false;
            throw Wrong(part, "the values are " + first + " and " + second);
        }

        private static ArgumentException Wrong(string part, string what) => new ArgumentException("silverpoint: '" + part.Trim() + "' in the settings of SilverpointTraceListener: " + what, "initializeData");
    }
}
