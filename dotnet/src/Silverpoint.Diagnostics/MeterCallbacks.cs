using System;
using System.Collections.Generic;
using System.Diagnostics.Metrics;
using System.Reflection;
using System.Reflection.Emit;

namespace Silverpoint
{
    // What a MeterListener calls with each measurement. One parameter is a ReadOnlySpan, which .NET Framework does not have: C# that is compiled
    // against it cannot name the type. So these methods are made at run time. They only make an array of the tags.
    internal static class MeterCallbacks
    {
        [ThreadStatic] private static bool isBusy;

        internal static readonly Type[] Types = { typeof(byte), typeof(short), typeof(int), typeof(long), typeof(float), typeof(double), typeof(decimal) };

        internal static void Set(MeterListener listener, Type type)
        {
            Type made = typeof(MeasurementCallback<>).MakeGenericType(type);
            Type[] parameters = Array.ConvertAll(made.GetMethod("Invoke").GetParameters(), one => one.ParameterType);
            var callback = new DynamicMethod("Measured", typeof(void), parameters, typeof(MeterCallbacks).Module, true);
            ILGenerator code = callback.GetILGenerator();
            code.Emit(OpCodes.Ldarg_0);
            code.Emit(OpCodes.Ldarg_1);
            Type kept = type == typeof(decimal) ? type : type == typeof(float) || type == typeof(double) ? typeof(double) : typeof(long);
            if (kept != type) code.Emit(kept == typeof(long) ? OpCodes.Conv_I8 : OpCodes.Conv_R8);
            code.Emit(OpCodes.Ldarga_S, (byte)2);
            code.Emit(OpCodes.Call, parameters[2].GetMethod("ToArray"));
            code.Emit(OpCodes.Ldarg_3);
            code.Emit(OpCodes.Call, typeof(MeterCallbacks).GetMethod(nameof(Record), BindingFlags.Static | BindingFlags.NonPublic, null, new[] { typeof(Instrument), kept, typeof(KeyValuePair<string, object>[]), typeof(object) }, null));
            code.Emit(OpCodes.Ret);
            typeof(MeterListener).GetMethod("SetMeasurementEventCallback").MakeGenericMethod(type).Invoke(listener, new object[] { callback.CreateDelegate(made) });
        }

        private static void Record(Instrument instrument, decimal value, KeyValuePair<string, object>[] tags, object state) => Record(instrument, (double)value, tags, state);

        private static void Record(Instrument instrument, long value, KeyValuePair<string, object>[] tags, object state) => Guard(instrument, value, tags, state);

        private static void Record(Instrument instrument, double value, KeyValuePair<string, object>[] tags, object state) => Guard(instrument, value, tags, state);

        // A value of a tag may measure something itself, when its text is made: that is not recorded.
        private static void Guard<T>(Instrument instrument, T value, KeyValuePair<string, object>[] tags, object state) where T : struct
        {
            if (isBusy) return;
            isBusy = true;
            try
            {
                ((MeterInstrument)state).Record(instrument, value, tags);
            }
            catch (Exception)
            {
                // Nothing is thrown into the program: the loss is counted.
                Native.spn_lose(Native.NoSite);
            }
            finally
            {
                isBusy = false;
            }
        }
    }
}
