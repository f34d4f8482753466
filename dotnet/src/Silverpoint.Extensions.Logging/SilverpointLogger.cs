using System;
using Microsoft.Extensions.Logging;

namespace Silverpoint.Extensions.Logging
{
    // The logger of a category. What the program's code throws is recorded in the place of the message.
    internal sealed unsafe class SilverpointLogger : ILogger
    {
        private readonly LevelSites[] levels = new LevelSites[6];
        // Where each level has its switch.
        private readonly NativeSite*[] switches = new NativeSite*[6];

        internal SilverpointLogger(string category)
        {
            // Both have the same levels, in the same order.
            for (int level = 0; level < levels.Length; ++level)
            {
                levels[level] = new LevelSites(category, (Level)level);
                switches[level] = levels[level].Switch;
            }
        }

        public bool IsEnabled(LogLevel logLevel)
        {
            NativeSite*[] all = switches;
            if ((uint)logLevel >= (uint)all.Length) return false;
            byte state = *all[(int)logLevel]->State;
            return state != 0 && (state == 1 || Native.spn_wants(all[(int)logLevel], state) != 0);
        }

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception exception, Func<TState, Exception, string> formatter)
        {
            if (!IsEnabled(logLevel)) return;
            LevelSites sites = levels[(int)logLevel];
            try
            {
                StateFields<TState> fields = StateFields<TState>.Only;
                if (fields != null && fields.Record(sites, eventId.Id, ref state, exception)) return;
                if (ListedState.Record(sites, eventId.Id, state, exception)) return;
            }
            catch (Exception)
            {
                // The formatter may do better: the message is a text.
            }
            sites.RecordText(TextOf(state, exception, formatter), eventId.Id, exception);
        }

        private static string TextOf<TState>(TState state, Exception exception, Func<TState, Exception, string> formatter)
        {
            try
            {
                return (formatter == null ? Values.Text(state) : formatter(state, exception)) ?? "";
            }
            catch (Exception error)
            {
                return "<error: " + error.GetType().Name + ">";
            }
        }

        public IDisposable BeginScope<TState>(TState state) => Scopes.Begin(state);
    }
}
