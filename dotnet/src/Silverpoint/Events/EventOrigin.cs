using System;
using System.Diagnostics.Tracing;
using System.Reflection;

namespace Silverpoint
{
    // When an event happened, and in which thread. .NET has both since Core 3.0, .NET Framework has not.
    internal static class EventOrigin
    {
        private static readonly Func<EventWrittenEventArgs, DateTime> time = Getter<DateTime>("TimeStamp");
        private static readonly Func<EventWrittenEventArgs, long> thread = Getter<long>("OSThreadId");

        internal static bool IsKnown => time != null && thread != null;

        internal static void Put(Writer writer, EventWrittenEventArgs written)
        {
            Codec<DateTime>.Packer.Put(writer, time(written));
            Codec<long>.Packer.Put(writer, thread(written));
        }

        private static Func<EventWrittenEventArgs, T> Getter<T>(string name)
        {
            PropertyInfo property = typeof(EventWrittenEventArgs).GetProperty(name);
            MethodInfo getter = property == null ? null : property.GetGetMethod();
            return getter == null || getter.ReturnType != typeof(T) ? null : (Func<EventWrittenEventArgs, T>)Delegate.CreateDelegate(typeof(Func<EventWrittenEventArgs, T>), getter);
        }
    }
}
