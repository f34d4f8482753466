using System;
using System.Collections.Generic;
using System.Text;

namespace Silverpoint
{
    // The line that a thread has begun by Write. Each thread has its own, so lines of several threads are not mixed.
    internal sealed class PartialLine
    {
        // A longer line is recorded in pieces.
        internal const int Longest = 4096;

        private static readonly List<WeakReference> all = new List<WeakReference>();

        private readonly SilverpointTraceListener owner;
        private readonly StringBuilder text = new StringBuilder();
        private volatile bool isBegun;

        internal PartialLine(SilverpointTraceListener owner)
        {
            this.owner = owner;
            lock (all)
            {
                all.RemoveAll(one => !one.IsAlive);
                all.Add(new WeakReference(this));
            }
        }

        // A thread that has ended cannot go on with its line.
        ~PartialLine()
        {
            if (isBegun && !Environment.HasShutdownStarted) owner.RecordText(Take(""));
        }

        internal bool IsBegun => isBegun;

        // Gives the line if it is too long to go on; else null.
        internal string Add(string piece, int indent)
        {
            lock (text)
            {
                if (text.Length == 0) text.Append(' ', indent);
                text.Append(piece);
                isBegun = true;
                return text.Length < Longest ? null : Taken();
            }
        }

        // The line with its last piece.
        internal string Take(string piece)
        {
            lock (text)
            {
                text.Append(piece);
                return Taken();
            }
        }

        private string Taken()
        {
            string line = text.ToString();
            text.Clear();
            isBegun = false;
            return line;
        }

        // Records what all threads have begun, for one listener.
        internal static void EndAll(SilverpointTraceListener owner)
        {
            var begun = new List<PartialLine>();
            lock (all)
            {
                foreach (WeakReference one in all)
                {
                    var line = one.Target as PartialLine;
                    if (line != null && line.isBegun && line.owner == owner) begun.Add(line);
                }
            }
            foreach (PartialLine line in begun)
            {
                string text = line.Take("");
                if (text.Length > 0) owner.RecordText(text);
            }
        }
    }
}
