using System;
using System.Collections.Concurrent;
using System.Threading;

namespace Silverpoint
{
    // How many values there may be, in one table or in several.
    internal sealed class Bound
    {
        private readonly int most;
        private int count;

        internal Bound(int most)
        {
            this.most = most;
        }

        internal int Count => Volatile.Read(ref count);

        internal bool IsReached => Count >= most;

        internal bool Take()
        {
            if (Interlocked.Increment(ref count) <= most) return true;
            GiveBack();
            return false;
        }

        internal void GiveBack() => Interlocked.Decrement(ref count);
    }

    // Values by key, each made once, and no more than a bound: programs make names at run time. A value that is there is found
    // without a lock or garbage. None is ever removed.
    internal sealed class BoundedTable<TKey, TValue> where TValue : class
    {
        private readonly ConcurrentDictionary<TKey, TValue> all = new ConcurrentDictionary<TKey, TValue>();
        private readonly Bound own;
        // Of all tables of a kind; null: there is none.
        private readonly Bound shared;
        // A value had no room. Then none will have: each key that has no value stays without one.
        private volatile bool isFull;

        internal BoundedTable(int most, Bound shared = null)
        {
            own = new Bound(most);
            this.shared = shared;
        }

        internal bool IsFull => isFull;

        // Null: it is not there.
        internal TValue Find(TKey key)
        {
            TValue found;
            all.TryGetValue(key, out found);
            return found;
        }

        // The value that is there, or a new one; null: there are too many. `make` gets the key and the argument, so that it captures
        // nothing: a function that captures would be garbage of each call. It runs under the table's lock.
        internal TValue FindOrAdd<TArgument>(TKey key, TArgument argument, Func<TKey, TArgument, TValue> make)
        {
            TValue found;
            if (all.TryGetValue(key, out found)) return found;
            // (It may have come meanwhile, as the last one.)
            return isFull ? Find(key) : Add(key, argument, make);
        }

        private TValue Add<TArgument>(TKey key, TArgument argument, Func<TKey, TArgument, TValue> make)
        {
            lock (all)
            {
                TValue found;
                if (all.TryGetValue(key, out found)) return found;
                if (isFull || !Take())
                {
                    isFull = true;
                    return null;
                }
                bool isMade = false;
                try
                {
                    found = make(key, argument);
                    all[key] = found;
                    isMade = true;
                    return found;
                }
                finally
                {
                    if (!isMade) GiveBack();
                }
            }
        }

        private bool Take()
        {
            if (!own.Take()) return false;
            if (shared == null || shared.Take()) return true;
            own.GiveBack();
            return false;
        }

        private void GiveBack()
        {
            own.GiveBack();
            shared?.GiveBack();
        }
    }
}
