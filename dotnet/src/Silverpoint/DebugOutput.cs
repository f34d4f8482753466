using System;
using System.Runtime.CompilerServices;

namespace Silverpoint
{
    /// <summary>
    /// Texts as debug output: what Windows programs give to OutputDebugString. <c>silverpoint debug</c> shows them. On Windows
    /// debuggers and debug monitors get them, too.
    /// </summary>
    public static class DebugOutput
    {
        // A text of the source, so that a place is found by the object.
        private const string Category = "debug_output";

        /// <summary>Records a text with category <c>debug_output</c> and level debug. Null is an empty text.</summary>
        public static void Write(string text, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "")
        {
            LogPlace place = LogPlace.Find(Category, Level.Debug, file, line, function);
            ulong ticks = place.IsOn ? place.Text.Write(text ?? "") : 0;
            if (Native.IsOnWindows) Delivery.Give(text ?? "", ticks != 0);
        }

        private static class Delivery
        {
            // Once: what waits for a monitor is delivered before the process ends. The library cannot do it when it is unloaded.
            static Delivery()
            {
                if (!Native.IsThere) return;
                AppDomain.CurrentDomain.ProcessExit += (sender, arguments) => Native.spn_end_debug_output();
                AppDomain.CurrentDomain.UnhandledException += (sender, arguments) =>
                {
                    if (arguments.IsTerminating) Native.spn_end_debug_output();
                };
            }

            internal static void Give(string text, bool isRecorded)
            {
                if (Native.IsThere) Native.DeliverDebugText(text, isRecorded);
            }
        }
    }
}
