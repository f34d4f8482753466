using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;

namespace Silverpoint
{
    // A site as libsilverpoint_net has it: the state byte's address, and the first word of its records.
    [StructLayout(LayoutKind.Explicit, Size = 72)]
    internal unsafe struct NativeSite
    {
        [FieldOffset(0)] public byte* State;
        [FieldOffset(8)] public ulong Head;
        [FieldOffset(56)] public ulong Whole;
    }

    // The part of a thread's position in its ring that the hot path needs.
    [StructLayout(LayoutKind.Explicit)]
    internal unsafe struct Lane
    {
        [FieldOffset(0)] public uint Ready;
        [FieldOffset(8)] public byte* Cursor;
        [FieldOffset(16)] public byte* Limit;
        [FieldOffset(24)] public ulong Delta;
        [FieldOffset(32)] public ulong* Committed;
    }

    // libsilverpoint_net: what is done once for a place, a thread or a process (dotnet/native).
    internal static unsafe class Native
    {
        private const string Library = "silverpoint_net";
        private const int Interface = 8;
        // Causes of losses (spec/wire.md, section 6).
        internal const int TooLarge = 5, NoSite = 6;

        internal static readonly bool IsOnWindows = Environment.OSVersion.Platform == PlatformID.Win32NT;
        private static readonly string file = IsOnWindows ? "silverpoint_net.dll" : "libsilverpoint_net.so";

        // Whether the library is there and of this version. If it is not, nothing is recorded.
        internal static readonly bool IsThere;

        // Begins a record, whose first word is given, and makes the thread's lane busy. Null: there is no room, or the lane is busy. Both
        // have the managed calling convention: the functions take and return a word, and block nowhere. So no transition is needed, which
        // would cost as much as the record.
        internal static readonly delegate*<ulong, Lane*> Begin;
        // The thread's lane; null before its first record.
        internal static readonly delegate*<Lane*> OwnLane;

        // What a tracepoint points to where the library is missing: a site that is off.
        internal static readonly NativeSite* Off = MakeOff();

        static Native()
        {
            try
            {
                int found = spn_interface();
                if (found == Interface)
                {
                    Begin = (delegate*<ulong, Lane*>)spn_begin_address();
                    OwnLane = (delegate*<Lane*>)spn_lane_address();
                    IsThere = true;
                    return;
                }
                Complain(file + " has interface " + found + " instead of " + Interface + ": install the one that belongs to Silverpoint.dll");
            }
            catch (Exception error) when (error is DllNotFoundException || error is EntryPointNotFoundException || error is BadImageFormatException)
            {
                Complain(file + " cannot be used, put it beside Silverpoint.dll: " + error.Message);
            }
        }

        private static void Complain(string what)
        {
            try
            {
                Console.Error.WriteLine("silverpoint: nothing is recorded: " + what);
            }
            catch (System.IO.IOException)
            {
                // Standard error is closed: there is nobody to tell.
            }
        }

        private static NativeSite* MakeOff()
        {
            byte* memory = (byte*)Marshal.AllocHGlobal(sizeof(NativeSite) + 1);
            for (int i = 0; i <= sizeof(NativeSite); ++i) memory[i] = 0;
            ((NativeSite*)memory)->State = memory + sizeof(NativeSite);
            return (NativeSite*)memory;
        }

        // The site of a place whose records have this content. There is one for the whole process, however often it is asked for.
        internal static NativeSite* MakeSite(Level level, int line, string file, string function, string category, string content)
        {
            if (!IsThere) return Off;
            byte[] texts = Encoding.UTF8.GetBytes(file + function + category + content);
            int fileSize = Encoding.UTF8.GetByteCount(file), functionSize = Encoding.UTF8.GetByteCount(function), categorySize = Encoding.UTF8.GetByteCount(category);
            int contentSize = Encoding.UTF8.GetByteCount(content);
            // Halves of a surrogate pair at a border would change the sizes.
            if (texts.Length != fileSize + functionSize + categorySize + contentSize) return MakeSite(level, line, "", "", "", "?" + content);
            fixed (byte* at = texts.Length == 0 ? new byte[1] : texts)
            {
                NativeSite* site = spn_site((int)level, line, at, (UIntPtr)(uint)fileSize, (UIntPtr)(uint)functionSize, (UIntPtr)(uint)categorySize, (UIntPtr)(uint)contentSize);
                return site == null ? Off : site;
            }
        }

        // Whether the records of a site may have this content: nobody has asked before, or for the same.
        internal static bool Claim(NativeSite* site, string content)
        {
            if (!IsThere) return true;
            byte[] bytes = Bytes(content);
            fixed (byte* at = bytes) return spn_claim(site, at, (UIntPtr)(uint)bytes.Length) != 0;
        }

        internal static ulong Complete(NativeSite* site, Kind kind, string names, string text, string signature, int size)
        {
            byte[] nameBytes = Bytes(names), textBytes = Bytes(text), signatureBytes = Bytes(signature);
            fixed (byte* n = nameBytes, t = textBytes, s = signatureBytes)
            {
                return spn_complete(site, (int)kind, n, (UIntPtr)(uint)(nameBytes.Length - 1), t, (UIntPtr)(uint)(textBytes.Length - 1), s,
                                    (UIntPtr)(uint)(signatureBytes.Length - 1), (uint)size);
            }
        }

        // A text for debuggers and debug monitors, besides its record.
        internal static void DeliverDebugText(string text, bool isRecorded)
        {
            fixed (char* at = text) spn_debug_output(at, (UIntPtr)(uint)text.Length, isRecorded ? 1 : 0);
        }

        // UTF-8 and a zero byte, so that there is always something to point to.
        private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text + "\0");

        // Whether a record is wanted, in states other than off and on. Where a call of native code is inlined, its caller
        // prepares for it at each entry.
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static bool Wants(NativeSite* site, byte state) => spn_wants(site, state) != 0;

        [DllImport(Library)] private static extern int spn_interface();
        [DllImport(Library)] private static extern IntPtr spn_begin_address();
        [DllImport(Library)] private static extern IntPtr spn_lane_address();
        [DllImport(Library)] private static extern NativeSite* spn_site(int level, int line, byte* texts, UIntPtr fileSize, UIntPtr functionSize, UIntPtr categorySize, UIntPtr contentSize);
        [DllImport(Library)] private static extern int spn_claim(NativeSite* site, byte* content, UIntPtr size);
        [DllImport(Library)] internal static extern UIntPtr spn_sites();
        [DllImport(Library)] private static extern ulong spn_complete(NativeSite* site, int kind, byte* names, UIntPtr namesSize, byte* text, UIntPtr textSize, byte* signature, UIntPtr signatureSize, uint size);
        [DllImport(Library)] private static extern int spn_wants(NativeSite* site, int state);
        [DllImport(Library)] internal static extern ulong spn_record(NativeSite* site, ulong head, byte* bytes, UIntPtr size, int cut);
        [DllImport(Library)] internal static extern void spn_lose(int cause);
        [DllImport(Library)] internal static extern UIntPtr spn_largest();
        [DllImport(Library)] internal static extern ulong spn_new_id();
        [DllImport(Library)] internal static extern void spn_end_probed_span(NativeSite* site, ulong ticks);
        [DllImport(Library)] internal static extern void spn_context(byte* pairs, UIntPtr size, int cut);
        [DllImport(Library)] private static extern void spn_debug_output(char* text, UIntPtr units, int isRecorded);
        [DllImport(Library)] internal static extern void spn_end_debug_output();
        // Not on Windows.
        [DllImport(Library)] internal static extern void spn_call_at_sigterm(IntPtr call);
        [DllImport(Library)] internal static extern void spn_do_not_call_at_sigterm(IntPtr call);
    }
}
