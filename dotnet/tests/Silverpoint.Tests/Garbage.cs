using System;

// What calls allocate each time that they are made.
static class Garbage
{
    const int Rounds = 5;

    // Null: the runtime does not count the bytes of a thread. Then collections are counted, of so many calls that the smallest
    // objects would fill the youngest generation.
    static readonly Func<long> bytes = Bytes();

    static Func<long> Bytes()
    {
        var method = typeof(GC).GetMethod("GetAllocatedBytesForCurrentThread");
        return method == null ? null : (Func<long>)Delegate.CreateDelegate(typeof(Func<long>), method);
    }

    static long Count() => bytes == null ? GC.CollectionCount(0) : bytes();

    internal static string Unit => bytes == null ? "collections" : "bytes";

    // The least of some rounds of 10,000 calls, behind a first round. What the runtime makes once is no garbage of a call: it
    // compiles methods again while they run.
    internal static long Of(Action<int> call)
    {
        int calls = bytes == null ? 1000000 : 10000;
        for (int i = 0; i < 10000; ++i) call(i);
        long least = long.MaxValue;
        for (int round = 0; round < Rounds && least > 0; ++round)
        {
            long before = Count();
            for (int i = 0; i < calls; ++i) call(i);
            least = Math.Min(least, Count() - before);
        }
        return least;
    }
}
