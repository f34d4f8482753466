using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Silverpoint;

/// Values by key, and no more than a bound.
static class BoundedTableTests
{
    const int Threads = 8;

    /// Each thread gets its number; all begin at the same time.
    static void AllAtOnce(Action<int> work)
    {
        Exception failed = null;
        using var begin = new Barrier(Threads);
        var threads = Enumerable.Range(0, Threads).Select(number => new Thread(() =>
        {
            begin.SignalAndWait();
            try
            {
                work(number);
            }
            catch (Exception error)
            {
                failed = error;
            }
        })).ToList();
        threads.ForEach(thread => thread.Start());
        threads.ForEach(thread => thread.Join());
        if (failed != null) throw failed;
    }

    public static void ManyThreadsAddNoMoreThanTheBound()
    {
        for (int round = 0; round < 50; ++round)
        {
            var table = new BoundedTable<int, object>(100);
            int found = 0;
            AllAtOnce(number =>
            {
                for (int i = 0; i < 50; ++i)
                    if (table.FindOrAdd(i * Threads + number, 0, (key, none) => new object()) != null) Interlocked.Increment(ref found);
            });
            Check.Same(100, found, "values in round " + round);
            Check.Same(100, Enumerable.Range(0, 50 * Threads).Count(key => table.Find(key) != null), "values that are there in round " + round);
            Check.That(table.IsFull, "a table that has refused a value is not full");
        }
    }

    // (Many keys and few rounds: threads start slowly.)
    public static void AllThreadsGetOneValueOfAKey()
    {
        const int Keys = 320;
        for (int round = 0; round < 25; ++round)
        {
            var table = new BoundedTable<string, object>(Keys);
            var made = new int[1];
            var found = new object[Threads][];
            AllAtOnce(number => found[number] = Enumerable.Range(0, Keys).Select(key => table.FindOrAdd("key " + key, made, (_, count) =>
            {
                Interlocked.Increment(ref count[0]);
                return new object();
            })).ToArray());
            Check.Same(Keys, made[0], "values that were made in round " + round);
            foreach (object[] one in found) Check.That(one.SequenceEqual(found[0]) && one.All(value => value != null), "another thread has another value");
        }
    }

    public static void TablesThatShareABoundAddNoMoreThanIt()
    {
        for (int round = 0; round < 50; ++round)
        {
            var shared = new Bound(100);
            BoundedTable<int, object>[] tables = Enumerable.Range(0, Threads).Select(_ => new BoundedTable<int, object>(30, shared)).ToArray();
            var found = new int[Threads];
            AllAtOnce(number =>
            {
                for (int i = 0; i < 40; ++i)
                    if (tables[number].FindOrAdd(i, 0, (key, none) => new object()) != null) ++found[number];
            });
            Check.Same(100, found.Sum(), "values of all tables in round " + round);
            Check.Same(100, shared.Count, "the count of all tables in round " + round);
            Check.That(found.All(count => count <= 30), "a table has more than its own bound: " + string.Join(" ", found.Select(count => count.ToString()).ToArray()));
        }
    }

    // What is not made takes no room.
    public static void AMakerMayThrow()
    {
        var shared = new Bound(2);
        var table = new BoundedTable<string, string>(2, shared);
        for (int i = 0; i < 5; ++i)
        {
            try
            {
                table.FindOrAdd("a", i, (key, number) => throw new InvalidOperationException(key + number));
                throw new TestFailure("nothing is thrown");
            }
            catch (InvalidOperationException error)
            {
                Check.Same("a" + i, error.Message, "the exception");
            }
        }
        Check.Same(0, shared.Count, "values");
        foreach (string key in new[] { "a", "b" }) Check.Same(key + "7", table.FindOrAdd(key, 7, (name, number) => name + number), "the value of " + key);
        Check.That(!table.IsFull && table.FindOrAdd("c", 7, (name, number) => name + number) == null && table.IsFull, "a value beyond the bound");
        Check.Same("a7", table.FindOrAdd("a", 8, (name, number) => name + number), "a value that is there, in a full table");
    }

    public static void WhatIsThereIsFoundWithoutGarbage()
    {
        var table = new BoundedTable<(string Name, int Number), string>(10);
        var full = new BoundedTable<string, string>(0);
        string name = "a";
        long garbage = Garbage.Of(i =>
        {
            table.FindOrAdd((name, i & 7), name, (key, text) => text + key.Number);
            table.Find((name, i & 15));
            full.FindOrAdd(name, i, (key, number) => key + number);
        });
        Check.Same(0, garbage, Garbage.Unit + " of garbage");
    }
}
