using System;
using System.Collections.Generic;
using System.Globalization;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Threading;

namespace Silverpoint
{
    // Objects by their public properties. Types of the framework are text instead: their properties may wait
    // (Task.Result), or have no end.
    internal static class Properties
    {
        // Types may be unloaded: this does not keep them.
        private static readonly ConditionalWeakTable<Type, PropertyInfo[]> known = new ConditionalWeakTable<Type, PropertyInfo[]>();

        internal static void Put(Writer writer, object value, int depth)
        {
            PropertyInfo[] properties = Of(value.GetType());
            if (properties.Length == 0)
            {
                Cbor.Text(writer, TextOf(value), Math.Max(writer.Room - 64 * (depth + 1), 0));
                return;
            }
            writer.Put8(Cbor.Map);
            foreach (PropertyInfo property in properties)
            {
                object held;
                try
                {
                    held = property.GetValue(value, null);
                }
                catch (TargetInvocationException error)
                {
                    // (Reflection wraps it, and the thread would go on.)
                    if (error.InnerException is ThreadAbortException) ExceptionDispatchInfo.Capture(error.InnerException).Throw();
                    held = "<error: " + (error.InnerException ?? error).GetType().Name + ">";
                }
                Items.Field(writer, property.Name, held, depth);
            }
            writer.Put8(Cbor.End);
        }

        private static string TextOf(object value)
        {
            var formattable = value as IFormattable;
            return (formattable != null ? formattable.ToString(null, CultureInfo.InvariantCulture) : value.ToString()) ?? "";
        }

        private static PropertyInfo[] Of(Type type) => known.GetValue(type, Find);

        private static PropertyInfo[] Find(Type type)
        {
            string space = type.Namespace ?? "";
            if (space == "System" || space.StartsWith("System.", StringComparison.Ordinal) || typeof(Delegate).IsAssignableFrom(type) || typeof(System.Threading.Tasks.Task).IsAssignableFrom(type))
                return new PropertyInfo[0];
            var properties = new List<PropertyInfo>();
            foreach (PropertyInfo property in type.GetProperties(BindingFlags.Instance | BindingFlags.Public))
            {
                MethodInfo getter = property.GetGetMethod(false);
                if (getter == null || property.GetIndexParameters().Length > 0 || property.PropertyType.IsPointer || IsByReference(property.PropertyType)) continue;
                properties.Add(property);
            }
            return properties.ToArray();
        }

        // References and structs on the stack alone (Span) cannot be objects.
        private static bool IsByReference(Type type)
        {
            if (type.IsByRef) return true;
            if (!type.IsValueType) return false;
            foreach (CustomAttributeData attribute in type.GetCustomAttributesData())
                if (attribute.AttributeType.Name == "IsByRefLikeAttribute") return true;
            return false;
        }
    }
}
