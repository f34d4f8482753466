using System;
using System.Diagnostics;
using System.Linq;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Silverpoint;

namespace Shop;

// Four workers take orders from the queue. When there are no more, the service ends.
sealed class Workers(Channel<Order> queue, Exchange exchange, ILogger<Workers> log, IHostApplicationLifetime lifetime) : BackgroundService
{
    static readonly ActivitySource source = new("shop.workers");
    static readonly Action<ILogger, int, string, Exception?> received = LoggerMessage.Define<int, string>(LogLevel.Information, new EventId(1), "received {Count} {Symbol}");
    static readonly Action<ILogger, Exception?> rejected = LoggerMessage.Define(LogLevel.Error, new EventId(2), "rejected");

    protected override async Task ExecuteAsync(CancellationToken stop)
    {
        await Task.WhenAll(Enumerable.Range(1, 4).Select(worker => Task.Run(() => Work(worker, stop), stop)));
        lifetime.StopApplication();
    }

    async Task Work(int worker, CancellationToken stop)
    {
        await foreach (Order order in queue.Reader.ReadAllAsync(stop))
        {
            using Context fields = Context.Push("order", order.Id, "worker", worker);          // all records of the order have them
            using Activity? activity = source.StartActivity("order", ActivityKind.Consumer);
            received(log, order.Count, order.Symbol, null);
            try
            {
                await exchange.Fill(order);
            }
            catch (InvalidOperationException error)
            {
                activity?.SetStatus(ActivityStatusCode.Error, error.Message);
                rejected(log, error);
            }
        }
    }
}
