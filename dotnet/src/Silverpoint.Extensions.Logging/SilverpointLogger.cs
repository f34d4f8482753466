#pragma warning disable CS8500 // The address of a state is used while it is in the stack.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
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
            return state != 0 && (state == 1 || Native.Wants(all[(int)logLevel], state));
        }

        // A message that is known has a site, which says itself whether it is on. No code of the program runs then.
        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception exception, Func<TState, Exception, string> formatter)
        {
            LevelSites[] all = levels;
            if ((uint)logLevel >= (uint)all.Length) return;
            if (exception == null)
            {
                StateRecorder recorder = StateRecorders<TState>.Only;
                if (recorder != null && recorder.Record(all[(int)logLevel], (byte*)&state, eventId.Id)) return;
            }
            LogSlowly(logLevel, eventId.Id, state, exception, formatter);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private void LogSlowly<TState>(LogLevel logLevel, int id, TState state, Exception exception, Func<TState, Exception, string> formatter)
        {
            if (!IsEnabled(logLevel)) return;
            LevelSites sites = levels[(int)logLevel];
            var end = new MessageEnd(id, exception);
            try
            {
                StateRecorder recorder = StateRecorders<TState>.Only;
                if (recorder != null && recorder.Record(sites, (byte*)&state, (IReadOnlyList<KeyValuePair<string, object>>)state, end)) return;
                FormattedState formatted = FormattedStates<TState>.Only;
                if (formatted != null && formatted.Record(sites, (byte*)&state, end)) return;
                if (ListedState.Record(sites, state, formatted == null ? null : formatted.KeyOf((byte*)&state), end)) return;
            }
            catch (Exception)
            {
                // The formatter may do better: the message is a text.
            }
            sites.RecordText(TextOf(state, exception, formatter), end);
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
