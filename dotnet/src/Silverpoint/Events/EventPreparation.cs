using System;
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Silverpoint
{
    // What runs before the first source is enabled. The runtime delivers its own events from another thread, while
    // the program's thread may hold the lock of all sources. If the code that records one then made an EventSource, or
    // waited for a static constructor that does, both threads would wait forever.
    internal static class EventPreparation
    {
        private static readonly Type[] types =
        {
            typeof(EventShapes), typeof(SourceCounters), typeof(EventOrigin), typeof(ValueField), typeof(Items), typeof(Properties), typeof(Packers), typeof(Codec<int>), typeof(Codec<long>), typeof(Codec<Guid>),
            typeof(Codec<double>), typeof(Codec<string>), typeof(Codec<DateTime>), typeof(Native),
        };

        internal static void Run()
        {
            foreach (Type type in types) RuntimeHelpers.RunClassConstructor(type.TypeHandle);
            EventShapes.Shared(Level.Info, EventParts.None);
            // Texts of many parts are put together in its memory, and it has a source of its own.
            Type definition = typeof(object).Assembly.GetType("System.Buffers.ArrayPool`1");
            if (definition == null) return;
            Type pool = definition.MakeGenericType(typeof(char));
            PropertyInfo shared = pool.GetProperty("Shared", BindingFlags.Static | BindingFlags.Public);
            MethodInfo rent = pool.GetMethod("Rent"), giveBack = pool.GetMethod("Return");
            // (A trimmed program may lack what it does not use.)
            if (shared == null || rent == null || giveBack == null) return;
            object own = shared.GetValue(null, null);
            giveBack.Invoke(own, new[] { rent.Invoke(own, new object[] { 1 }), false });
        }
    }
}
