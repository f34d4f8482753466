using System;
using System.Collections.Generic;

namespace Silverpoint
{
    // Listeners in which a thread has begun a line since they were closed. Their lines are recorded when the process ends,
    // by an exception that nobody catches and by SIGTERM, too. (Environment.FailFast and other signals run no code of the program.)
    // Only weak references lead from here to them, and the runtime has no reference to this while there are none.
    internal static class OpenListeners
    {
        private static readonly List<WeakReference> all = new List<WeakReference>();

        internal static void Add(SilverpointTraceListener listener)
        {
            lock (all)
            {
                all.RemoveAll(one => !one.IsAlive || one.Target == listener);
                all.Add(new WeakReference(listener));
                if (all.Count > 1) return;
                // (A handler may be there: the listeners before may have been collected without a Close.)
                Unsubscribe();
                AppDomain.CurrentDomain.ProcessExit += End;
                AppDomain.CurrentDomain.UnhandledException += EndByException;
                Termination.Set(EndLines);
                if (!AppDomain.CurrentDomain.IsDefaultAppDomain()) AppDomain.CurrentDomain.DomainUnload += End;
            }
        }

        internal static void Remove(SilverpointTraceListener listener)
        {
            lock (all)
            {
                all.RemoveAll(one => !one.IsAlive || one.Target == listener);
                if (all.Count == 0) Unsubscribe();
            }
        }

        internal static int Count
        {
            get
            {
                lock (all) return all.Count;
            }
        }

        private static void Unsubscribe()
        {
            AppDomain.CurrentDomain.ProcessExit -= End;
            AppDomain.CurrentDomain.UnhandledException -= EndByException;
            Termination.Set(null);
            if (!AppDomain.CurrentDomain.IsDefaultAppDomain()) AppDomain.CurrentDomain.DomainUnload -= End;
        }

        private static void End(object sender, EventArgs arguments) => EndLines();

        // (In it ProcessExit follows on Mono alone.)
        private static void EndByException(object sender, UnhandledExceptionEventArgs arguments)
        {
            if (arguments.IsTerminating) EndLines();
        }

        // Records all lines that are begun.
        internal static void EndLines()
        {
            var open = new List<SilverpointTraceListener>();
            lock (all)
            {
                foreach (WeakReference one in all)
                {
                    var listener = one.Target as SilverpointTraceListener;
                    if (listener != null) open.Add(listener);
                }
            }
            foreach (SilverpointTraceListener listener in open) PartialLine.EndAll(listener);
        }
    }
}
