using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Silverpoint
{
    // Memory in which arguments are packed while no lane is held, since their getters are code of the program. It
    // grows up to the largest record and is kept for the thread's next record. Nested records take another one.
    internal sealed unsafe class Writer
    {
        // What an argument that is cut leaves for each of those behind it.
        private const int ForOthers = 256;
        private const int First = 4096;
        internal const uint Cut = 0x80000000;

        [ThreadStatic] private static Stack<Writer> free;
        // Texts of numbers are made here, without garbage.
        internal readonly char[] Letters = new char[64];
        // Of a message that is being put together: texts, and forms of values.
        internal object[] Parts = new object[32];

        private byte* memory;
        private int capacity;
        private int size;
        private int largest;
        private int others;

        private Writer() { }

        ~Writer()
        {
            if (memory != null) Marshal.FreeHGlobal((IntPtr)memory);
        }

        internal byte* Bytes => memory;
        internal int Size => size;
        // Something was cut: the record is marked.
        internal bool IsCut { get; set; }
        // Something of fixed size had no room: the record cannot be made.
        internal bool IsFull { get; private set; }
        internal int Room => largest - size - others * ForOthers;

        // A writer for one record with this number of arguments. Give it back.
        internal static Writer Take(int arguments)
        {
            Stack<Writer> stack = free ?? (free = new Stack<Writer>());
            Writer writer = stack.Count > 0 ? stack.Pop() : new Writer();
            writer.size = 0;
            writer.largest = Ring.Largest;
            writer.others = arguments;
            writer.IsCut = writer.IsFull = false;
            return writer;
        }

        // A writer for at most so many bytes that become no record.
        internal static Writer TakeFor(int most)
        {
            Writer writer = Take(0);
            writer.largest = Math.Min(writer.largest, most);
            return writer;
        }

        internal void GiveBack() => free.Push(this);

        // The next argument begins: it need not leave room for itself.
        internal void Next()
        {
            if (others > 0) --others;
        }

        // Room for so many bytes; null when the record would be too large.
        internal byte* Reserve(int bytes)
        {
            if (IsFull || bytes > largest - size)
            {
                IsFull = true;
                return null;
            }
            if (bytes > capacity - size) Grow(size + bytes);
            byte* at = memory + size;
            size += bytes;
            return at;
        }

        private void Grow(int least)
        {
            int wanted = Math.Max(First, capacity);
            while (wanted < least) wanted *= 2;
            memory = (byte*)(memory == null ? Marshal.AllocHGlobal(wanted) : Marshal.ReAllocHGlobal((IntPtr)memory, (IntPtr)wanted));
            capacity = wanted;
        }

        internal void Put8(byte value)
        {
            byte* at = Reserve(1);
            if (at != null) *at = value;
        }

        internal void Put16(ushort value)
        {
            byte* at = Reserve(2);
            if (at != null) *(ushort*)at = value;
        }

        internal void Put32(uint value)
        {
            byte* at = Reserve(4);
            if (at != null) *(uint*)at = value;
        }

        internal void Put64(ulong value)
        {
            byte* at = Reserve(8);
            if (at != null) *(ulong*)at = value;
        }

        // The place of a length that is known later: by Patch.
        internal int Mark()
        {
            int place = size;
            Put32(0);
            return place;
        }

        internal void Patch(int place, uint value)
        {
            if (!IsFull) *(uint*)(memory + place) = value;
        }

        // A place to go back to. What had no room before it is missing still.
        internal struct Place
        {
            internal int Size;
            internal bool IsFull;
        }

        internal Place Here => new Place { Size = size, IsFull = IsFull };

        // Forgets what was written behind a place.
        internal void Back(Place place)
        {
            size = place.Size;
            IsFull = place.IsFull;
        }

        // `count` units of `unit` bytes behind their number; cut when there is no room for all.
        internal void PutUnits(void* from, int count, int unit)
        {
            int room = Room;
            if ((long)count * unit + 4 <= room)
            {
                byte* at = Reserve(4 + count * unit);
                if (at == null) return;
                *(int*)at = count;
                Buffer.MemoryCopy(from, at + 4, (long)count * unit, (long)count * unit);
                return;
            }
            int kept = room < 8 ? 0 : (room - 8) / unit;
            byte* to = Reserve(8 + kept * unit);
            if (to == null) return;
            *(uint*)to = (uint)kept | Cut;
            *(uint*)(to + 4) = (uint)(count - kept);
            Buffer.MemoryCopy(from, to + 8, (long)kept * unit, (long)kept * unit);
            IsCut = true;
        }

        // UTF-16 text. A pair of surrogates is not divided.
        internal void PutText(char* from, int count)
        {
            int room = Room;
            if ((long)count * 2 + 4 > room && room >= 10)
            {
                int kept = (room - 8) / 2;
                if (kept > 0 && char.IsHighSurrogate(from[kept - 1])) --kept;
                byte* to = Reserve(8 + kept * 2);
                if (to == null) return;
                *(uint*)to = (uint)kept | Cut;
                *(uint*)(to + 4) = (uint)(count - kept);
                Buffer.MemoryCopy(from, to + 8, kept * 2, kept * 2);
                IsCut = true;
                return;
            }
            PutUnits(from, count, 2);
        }

        internal void PutText(string text)
        {
            fixed (char* from = text) PutText(from, text.Length);
        }

        // A whole argument: a text. Null is an empty one.
        internal void PutArgument(string text)
        {
            Next();
            PutText(text ?? "");
        }
    }
}
