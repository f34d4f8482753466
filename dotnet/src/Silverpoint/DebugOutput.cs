using System.Runtime.CompilerServices;

namespace Silverpoint
{
    /// <summary>Texts as debug output: what Windows programs give to OutputDebugString. <c>silverpoint debug</c> shows them.</summary>
    public static class DebugOutput
    {
        // A text of the source, so that a place is found by the object.
        private const string Category = "debug_output";

        /// <summary>Records a text with category <c>debug_output</c> and level debug. Null is an empty text.</summary>
        public static void Write(string text, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0, [CallerMemberName] string function = "")
        {
            LogPlace place = LogPlace.Find(Category, Level.Debug, file, line, function);
            if (place.IsOn) place.Text.Record(text ?? "");
        }
    }
}
