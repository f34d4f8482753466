using System.Diagnostics.Tracing;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;
using Microsoft.Extensions.Hosting;
using Silverpoint;

namespace Shop;

sealed record Order(int Id, string Symbol, int Count);

// The queue's own events.
[EventSource(Name = "Shop-Queue")]
sealed class QueueEvents : EventSource
{
    internal static readonly QueueEvents Log = new();

    [Event(1, Level = EventLevel.Informational, Message = "order {0} waits behind {1} others")]
    public void Queued(int id, int waiting) => WriteEvent(1, id, waiting);
}

// Where orders come from: twenty of them here, the network elsewhere.
sealed class Orders(Channel<Order> queue) : BackgroundService
{
    protected override async Task ExecuteAsync(CancellationToken stop)
    {
        string[] symbols = ["SPT", "XAG", "XAU"];
        for (int id = 1; id <= 20; ++id)
        {
            using Context fields = Context.Push("order", id);
            QueueEvents.Log.Queued(id, queue.Reader.Count);
            await queue.Writer.WriteAsync(new Order(id, symbols[id % 3], id % 7 == 0 ? 5000 : 10 * id), stop);
        }
        queue.Writer.Complete();
    }
}
