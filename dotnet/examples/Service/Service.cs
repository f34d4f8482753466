using System.Threading.Channels;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Shop;
using Silverpoint;
using Silverpoint.Extensions.Logging;

HostApplicationBuilder builder = Host.CreateApplicationBuilder();
builder.Logging.ClearProviders().AddSilverpoint().AddFilter<SilverpointLoggerProvider>(null, LogLevel.Trace);    // ILogger, of the host as well
builder.Services.AddSingleton(Channel.CreateBounded<Order>(4)).AddSingleton<Exchange>().AddHostedService<Orders>().AddHostedService<Workers>();

SilverpointTrace.Install();                                                                                      // Trace and every TraceSource
UnhandledExceptions.Record();
using var activities = new SilverpointActivityListener("shop.*");
using var events = new SilverpointEventListener("Shop-*");
await builder.Build().RunAsync();
