namespace Silverpoint
{
    /// <summary>How important a record is. Directives select records by it.</summary>
    public enum Level
    {
        /// <summary>Every detail.</summary>
        Trace = 0,
        /// <summary>For those who search for a fault.</summary>
        Debug = 1,
        /// <summary>What happens.</summary>
        Info = 2,
        /// <summary>What deserves attention.</summary>
        Warn = 3,
        /// <summary>What failed.</summary>
        Error = 4,
        /// <summary>Why the program cannot go on.</summary>
        Fatal = 5,
    }

    // What a site is (spec/wire.md, section 7).
    internal enum Kind
    {
        Log = 0,
        Stream = 1,
        Event = 2,
        Span = 3,
        Counter = 4,
        Instant = 5,
        AsyncBegin = 6,
        AsyncEnd = 7,
        AsyncInstant = 8,
        FlowBegin = 9,
        FlowStep = 10,
        FlowEnd = 11,
        Link = 12,
    }
}
