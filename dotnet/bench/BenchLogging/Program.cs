// What bench/dotnet-runtimes measures of ILogger: nanoseconds and bytes of garbage of single calls.
//
//   BenchLogging empty|silverpoint|empty-factory|factory BLOCKS
//
// An empty logger shows what LoggerMessage itself costs; factories have either logger behind that of a LoggerFactory. A process
// has one logger, as a program has: the compiler at run time expects the type that it has seen.
using System;
using Microsoft.Extensions.Logging;
using Silverpoint;
using Silverpoint.Extensions.Logging;

static class Program
{
    sealed class EmptyLogger : ILogger
    {
        public bool IsEnabled(LogLevel level) => level >= LogLevel.Information;
        public IDisposable BeginScope<TState>(TState state) => null;
        public void Log<TState>(LogLevel level, EventId id, TState state, Exception error, Func<TState, Exception, string> formatter) { }
    }

    sealed class EmptyProvider : ILoggerProvider
    {
        public ILogger CreateLogger(string categoryName) => new EmptyLogger();
        public void Dispose() { }
    }

    static readonly Action<ILogger, int, long, double, Exception> numbers = LoggerMessage.Define<int, long, double>(LogLevel.Information, new EventId(0), "{A} {B} {C}");
    static readonly Action<ILogger, int, long, double, Exception> details = LoggerMessage.Define<int, long, double>(LogLevel.Trace, new EventId(0), "{A} {B} {C}");
    static readonly Action<ILogger, string, int, Exception> texts = LoggerMessage.Define<string, int>(LogLevel.Information, new EventId(0), "{A} {B}");
    static readonly Tracepoint<int, long, double> tracepoint = Tracepoint.Log("bench", Level.Info, "{} {} {}").With<int, long, double>();
    static readonly Tracepoint<string, int> tracepointText = Tracepoint.Log("bench", Level.Info, "{} {}").With<string, int>();
    static readonly string line = "order 1234567 filled at 101.25";

    static ILogger log;
    static int enabled;

    static int Main(string[] arguments)
    {
        int blocks = 0;
        string kind = arguments.Length == 2 && int.TryParse(arguments[1], out blocks) ? arguments[0] : "";
        switch (kind)
        {
            case "empty": log = new EmptyLogger(); break;
            case "silverpoint": log = new SilverpointLoggerProvider().CreateLogger("bench"); break;
            case "empty-factory": log = LoggerFactory.Create(builder => builder.AddProvider(new EmptyProvider()).AddFilter<EmptyProvider>(null, LogLevel.Trace)).CreateLogger("bench"); break;
            case "factory": log = LoggerFactory.Create(builder => builder.AddSilverpoint().AddFilter<SilverpointLoggerProvider>(null, LogLevel.Trace)).CreateLogger("bench"); break;
            default:
                Console.Error.WriteLine("usage: BenchLogging empty|silverpoint|empty-factory|factory BLOCKS");
                return 2;
        }
        bool isEmpty = kind.StartsWith("empty");
        string of = (isEmpty ? "an empty logger" : "silverpoint") + (kind.EndsWith("factory") ? " in a LoggerFactory" : "");
        int made = isEmpty ? 0 : 1;
        Timing.Begin(blocks);
        Timing.Of("ILogger.IsEnabled, off, " + of, 0, IsEnabled);
        Timing.Of("LoggerMessage with three numbers, off, " + of, 0, Details);
        Timing.Of("tracepoint with three numbers", 1, Tracepoints);
        Timing.Of("LoggerMessage with three numbers, " + of, made, Numbers);
        Timing.Of("tracepoint with a text and a number", 1, TracepointTexts);
        Timing.Of("LoggerMessage with a text and a number, " + of, made, Texts);
        Timing.Of("LogInformation with two values, " + of, made, Informations);
        Timing.End();
        return 0;
    }

    static void IsEnabled(int calls) { for (int i = 0; i < calls; ++i) if (log.IsEnabled(LogLevel.Trace)) ++enabled; }
    static void Details(int calls) { for (int i = 0; i < calls; ++i) details(log, i, 7, 1.5, null); }
    static void Numbers(int calls) { for (int i = 0; i < calls; ++i) numbers(log, i, 7, 1.5, null); }
    static void Tracepoints(int calls) { for (int i = 0; i < calls; ++i) tracepoint.Record(i, 7, 1.5); }
    static void Texts(int calls) { for (int i = 0; i < calls; ++i) texts(log, line, i, null); }
    static void TracepointTexts(int calls) { for (int i = 0; i < calls; ++i) tracepointText.Record(line, i); }
    static void Informations(int calls) { for (int i = 0; i < calls; ++i) log.LogInformation("order {Id} at {Price}", i, 101.25); }
}
