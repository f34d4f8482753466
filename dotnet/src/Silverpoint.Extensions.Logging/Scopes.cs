using System;
using System.Collections;
using System.Collections.Generic;

namespace Silverpoint.Extensions.Logging
{
    // Scopes of ILogger as contexts.
    internal static class Scopes
    {
        private const int MostFields = 64;
        // The field of a scope that is no list of names and values.
        private const string Name = "scope";

        internal static Context Begin(object state)
        {
            try
            {
                List<KeyValuePair<string, object>> fields = Fields(state);
                return fields != null && fields.Count > 0 ? Context.Push(fields) : Context.Push(Name, Values.Text(state));
            }
            catch (Exception error)
            {
                return Context.Push(Name, "<error: " + error.GetType().Name + ">");
            }
        }

        private static List<KeyValuePair<string, object>> Fields(object state)
        {
            var fields = new List<KeyValuePair<string, object>>();
            if (state is IEnumerable<KeyValuePair<string, object>>)
            {
                foreach (KeyValuePair<string, object> one in (IEnumerable<KeyValuePair<string, object>>)state)
                    if (!Add(fields, one.Key, one.Value)) break;
            }
            else if (state is IDictionary)
            {
                foreach (DictionaryEntry one in (IDictionary)state)
                    if (!Add(fields, Values.Text(one.Key), one.Value)) break;
            }
            else if (state is ValueTuple<string, object>)
            {
                var one = (ValueTuple<string, object>)state;
                Add(fields, one.Item1, one.Item2);
            }
            return fields;
        }

        // False: there are too many.
        private static bool Add(List<KeyValuePair<string, object>> fields, string name, object value)
        {
            if (name != MessageTemplate.Key) fields.Add(new KeyValuePair<string, object>(name, value == null ? null : Values.Shown(value)));
            return fields.Count < MostFields;
        }
    }
}
