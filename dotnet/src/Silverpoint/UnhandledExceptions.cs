using System;
using System.Threading;
using System.Threading.Tasks;

namespace Silverpoint
{
    /// <summary>Records exceptions that nobody catches.</summary>
    public static class UnhandledExceptions
    {
        private static readonly Tracepoint<object> Unhandled = Tracepoint.Log("exceptions", Level.Fatal, "unhandled exception: {}", "", 0, "").With<object>();
        private static readonly Tracepoint<object> Unobserved = Tracepoint.Log("exceptions", Level.Error, "unobserved exception of a task: {}", "", 0, "").With<object>();

        private static int isInstalled;

        /// <summary>
        /// From now on an exception that ends the program is its last record, of level fatal, with type, message, stack and
        /// the exceptions within. An exception of a task that is collected unobserved is a record of level error. What the
        /// runtime does then is not changed. May be called more than once, from any thread.
        /// </summary>
        public static void Record()
        {
            if (Interlocked.Exchange(ref isInstalled, 1) != 0) return;
            AppDomain.CurrentDomain.UnhandledException += (sender, arguments) =>
            {
                // Before the last record.
                if (arguments.IsTerminating) OpenListeners.EndLines();
                Unhandled.Record(arguments.ExceptionObject);
            };
            TaskScheduler.UnobservedTaskException += (sender, arguments) => Unobserved.Record(arguments.Exception);
        }
    }
}
