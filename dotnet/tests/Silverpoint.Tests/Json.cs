using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

/// Just enough of JSON for the vectors and for `silverpoint convert`: numbers stay text, as Number.
static class Json
{
    public sealed class Number(string text)
    {
        public readonly string Text = text;
        public override string ToString() => Text;
    }

    public static object Parse(string text)
    {
        int at = 0;
        object value = Value(text, ref at);
        Skip(text, ref at);
        if (at != text.Length) throw new FormatException("JSON goes on behind its end: " + text.Substring(at));
        return value;
    }

    static void Skip(string text, ref int at)
    {
        while (at < text.Length && " \t\r\n".IndexOf(text[at]) >= 0) ++at;
    }

    static object Value(string text, ref int at)
    {
        Skip(text, ref at);
        switch (text[at])
        {
            case '{': return Members(text, ref at);
            case '[': return Elements(text, ref at);
            case '"': return String(text, ref at);
        }
        int begin = at;
        while (at < text.Length && ",]} \t\r\n".IndexOf(text[at]) < 0) ++at;
        string word = text.Substring(begin, at - begin);
        return word switch { "null" => null, "true" => true, "false" => false, _ => new Number(word) };
    }

    static Dictionary<string, object> Members(string text, ref int at)
    {
        var members = new Dictionary<string, object>();
        for (++at; ;)
        {
            Skip(text, ref at);
            if (text[at] == '}') break;
            if (text[at] == ',') { ++at; continue; }
            string name = String(text, ref at);
            Skip(text, ref at);
            ++at;
            members[name] = Value(text, ref at);
        }
        ++at;
        return members;
    }

    static List<object> Elements(string text, ref int at)
    {
        var elements = new List<object>();
        for (++at; ;)
        {
            Skip(text, ref at);
            if (text[at] == ']') break;
            if (text[at] == ',') { ++at; continue; }
            elements.Add(Value(text, ref at));
        }
        ++at;
        return elements;
    }

    static string String(string text, ref int at)
    {
        var letters = new StringBuilder();
        for (++at; text[at] != '"'; ++at)
        {
            if (text[at] != '\\')
            {
                letters.Append(text[at]);
                continue;
            }
            switch (text[++at])
            {
                case 'n': letters.Append('\n'); break;
                case 't': letters.Append('\t'); break;
                case 'r': letters.Append('\r'); break;
                case 'b': letters.Append('\b'); break;
                case 'f': letters.Append('\f'); break;
                case 'u':
                    letters.Append((char)int.Parse(text.Substring(at + 1, 4), NumberStyles.HexNumber));
                    at += 4;
                    break;
                default: letters.Append(text[at]); break;
            }
        }
        ++at;
        return letters.ToString();
    }
}
