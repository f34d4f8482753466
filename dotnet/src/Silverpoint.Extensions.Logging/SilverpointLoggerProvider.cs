using System;
using Microsoft.Extensions.Logging;

namespace Silverpoint.Extensions.Logging
{
    /// <summary>
    /// Records what a program logs by <see cref="ILogger"/>. Add it by <c>builder.AddSilverpoint()</c>. One provider serves all
    /// threads. It has nothing to flush: a record is safe as soon as it is made. Nothing that the program's states, formatters
    /// and enumerators throw gets out of it.
    /// </summary>
    /// <remarks>
    /// The logger's category is the record's, levels have the same order, and directives switch each category and level. Scopes
    /// become a <see cref="Context"/>, so all records of the flow have their fields, by whomever they are made. Therefore this is no
    /// ISupportExternalScope: with that the scopes would be read at each record, and by the logger alone. The ids of the current
    /// activity are fields of the context, too, if the factory's ActivityTrackingOptions ask for them and <c>AddSilverpoint</c> has added the provider.
    /// </remarks>
    [ProviderAlias("Silverpoint")]
    public sealed class SilverpointLoggerProvider : ILoggerProvider
    {
        // Loggers of further categories record with the category of the first of them.
        internal const int MostCategories = 2000;
        private static readonly BoundedTable<string, SilverpointLogger> loggers = new BoundedTable<string, SilverpointLogger>(MostCategories);
        private static readonly SilverpointLogger other = new SilverpointLogger("other");

        /// <summary>Does not track activities: <c>AddSilverpoint</c> does.</summary>
        public SilverpointLoggerProvider() { }

        internal SilverpointLoggerProvider(IServiceProvider services) => ActivityTracking.Track(services);

        /// <summary>A logger of this category. Loggers of one category are one object, in all providers.</summary>
        public ILogger CreateLogger(string categoryName) => loggers.FindOrAdd(categoryName ?? "", 0, (name, none) => new SilverpointLogger(name)) ?? other;

        /// <summary>Does nothing. Loggers go on to record, since the program may hold them.</summary>
        public void Dispose() { }
    }
}
