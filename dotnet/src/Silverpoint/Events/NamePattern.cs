using System;

namespace Silverpoint
{
    // Names of sources with * for any letters: "Shop-*". Case does not matter.
    internal static class NamePattern
    {
        // Patterns with commas between.
        internal static string[] Split(string patterns) => Array.ConvertAll(patterns.Split(','), pattern => pattern.Trim());

        internal static bool MatchesAny(string[] patterns, string name) => Array.Exists(patterns, pattern => Matches(pattern, name));

        internal static bool Matches(string pattern, string name)
        {
            // The place behind the last star, and what it has taken: for another try with one letter more.
            int at = 0, letter = 0, star = -1, taken = 0;
            while (letter < name.Length)
            {
                if (at < pattern.Length && pattern[at] == '*')
                {
                    star = ++at;
                    taken = letter;
                }
                else if (at < pattern.Length && char.ToUpperInvariant(pattern[at]) == char.ToUpperInvariant(name[letter]))
                {
                    ++at;
                    ++letter;
                }
                else if (star >= 0)
                {
                    at = star;
                    letter = ++taken;
                }
                else
                {
                    return false;
                }
            }
            while (at < pattern.Length && pattern[at] == '*') ++at;
            return at == pattern.Length;
        }
    }
}
