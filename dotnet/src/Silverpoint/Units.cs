namespace Silverpoint
{
    // Units are metadata of a type (spec/wire.md, section 10): readers show them behind the value.
    internal static class Units
    {
        internal static string Of(string unit, string signature) => string.IsNullOrEmpty(unit) ? signature : "@unit=" + Texts.Name(unit) + ";" + signature;
    }
}
