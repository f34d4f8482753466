using System;
using System.Diagnostics.Metrics;
using System.Threading;

namespace Silverpoint
{
    /// <summary>
    /// Records what instruments of chosen meters measure, as counters with their units. The category is the meter's name. Tags follow the
    /// value. It works until it is disposed of.
    /// </summary>
    /// <remarks>
    /// Each measurement is a record: of a <see cref="Counter{T}"/> what is added, not the sum. The level is debug. All threads may measure
    /// meanwhile. Nothing is thrown into the code that does. A measurement with tags allocates an array for them. Names are kept as long as the
    /// process: those of 4,096 instruments. Further ones share one site, with the names as arguments.
    /// </remarks>
    public sealed class SilverpointMeterListener : IDisposable
    {
        private readonly MeterListener listener = new MeterListener();
        // Null: observable instruments are not asked.
        private readonly Timer timer;
        private int isAsking;

        /// <summary>Listens from now on to meters whose names match one of the patterns, with commas between. A <c>*</c> stands for any letters.
        /// Observable instruments are asked at each interval, by a thread of the pool; without an interval they are not asked.</summary>
        /// <exception cref="ArgumentNullException">There is no pattern.</exception>
        /// <exception cref="ArgumentOutOfRangeException">The interval is negative, or longer than 24 days.</exception>
        public SilverpointMeterListener(string meters = "*", TimeSpan interval = default)
        {
            if (meters == null) throw new ArgumentNullException(nameof(meters));
            if (interval < TimeSpan.Zero || interval.TotalMilliseconds > int.MaxValue) throw new ArgumentOutOfRangeException(nameof(interval));
            string[] patterns = NamePattern.Split(meters);
            listener.InstrumentPublished = (instrument, own) =>
            {
                if (NamePattern.MatchesAny(patterns, instrument.Meter.Name)) own.EnableMeasurementEvents(instrument, MeterInstrument.Of(instrument));
            };
            // Without it some runtimes go on to deliver measurements behind Dispose.
            listener.MeasurementsCompleted = (instrument, state) => { };
            foreach (Type type in MeterCallbacks.Types) MeterCallbacks.Set(listener, type);
            listener.Start();
            if (interval > TimeSpan.Zero) timer = new Timer(_ => Ask(), null, interval, interval);
        }

        /// <summary>Ends the recording. May be called more than once.</summary>
        public void Dispose()
        {
            timer?.Dispose();
            listener.Dispose();
        }

        private void Ask()
        {
            // A callback of the program may take longer than the interval.
            if (Interlocked.Exchange(ref isAsking, 1) != 0) return;
            try
            {
                listener.RecordObservableInstruments();
            }
            catch (Exception)
            {
                // Callbacks of the program have thrown: their instruments have no value now. All others were asked.
            }
            finally
            {
                Volatile.Write(ref isAsking, 0);
            }
        }
    }
}
