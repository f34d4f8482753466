using System;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Logging;

namespace Silverpoint.Extensions.Logging
{
    /// <summary>Adds Silverpoint to the logging of a program.</summary>
    public static class LoggingBuilderExtensions
    {
        /// <summary>
        /// Records what the program logs. The filters of the builder come first: without
        /// <c>AddFilter&lt;SilverpointLoggerProvider&gt;(null, LogLevel.Trace)</c> directives cannot switch on what they hold back.
        /// May be called more than once.
        /// </summary>
        /// <exception cref="ArgumentNullException">There is no builder.</exception>
        public static ILoggingBuilder AddSilverpoint(this ILoggingBuilder builder)
        {
            if (builder == null) throw new ArgumentNullException(nameof(builder));
            builder.Services.TryAddEnumerable(ServiceDescriptor.Singleton<ILoggerProvider, SilverpointLoggerProvider>(services => new SilverpointLoggerProvider(services)));
            return builder;
        }
    }
}
