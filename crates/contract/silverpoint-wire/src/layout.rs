//! Every magic, offset, limit and number of the contract (spec/wire.md, spec/file.md), by region. No code.

/// Identity and limits of the whole contract.
pub const VERSION_MAJOR: u16 = 1;
/// Minor version written by this crate.
pub const VERSION_MINOR: u16 = 0;

/// The control file's header (spec/wire.md section 3.1).
pub mod control {
    /// First eight bytes of a control file.
    pub const MAGIC: [u8; 8] = *b"SPCTL\r\n\x1a";
    /// Bytes of the header.
    pub const HEADER_SIZE: usize = 4096;
    #[allow(missing_docs)]
    pub mod at {
        pub const MAGIC: usize = 0;
        pub const VERSION_MAJOR: usize = 8;
        pub const VERSION_MINOR: usize = 10;
        pub const HEADER_SIZE: usize = 12;
        pub const FLAGS: usize = 16;
        pub const PID: usize = 20;
        pub const START_TIME: usize = 24;
        pub const BOOT_ID: usize = 32;
        pub const UID: usize = 48;
        pub const PID_NS: usize = 52;
        pub const CREATED_WALL_NS: usize = 56;
        pub const SESSION_ID: usize = 64;
        pub const CLOCK_SOURCE: usize = 80;
        pub const PARENT_PID: usize = 84;
        pub const TICKS_PER_SECOND: usize = 88;
        pub const CONTROL_SIZE: usize = 96;
        pub const RINGS_SIZE: usize = 104;
        pub const SLAB_BYTES: usize = 112;
        pub const SLAB_COUNT: usize = 116;
        pub const SLABS_AT: usize = 120;
        pub const DIRECTIVES_AT: usize = 128;
        pub const DIRECTIVES_CAP: usize = 136;
        pub const SITES_CAP: usize = 140;
        pub const SITES_AT: usize = 144;
        pub const STATES_AT: usize = 152;
        pub const INDEX_AT: usize = 160;
        pub const INDEX_CAP: usize = 168;
        pub const ANCHORS_CAP: usize = 172;
        pub const ANCHORS_AT: usize = 176;
        pub const DESCS_AT: usize = 184;
        pub const DESCS_SIZE: usize = 192;
        pub const PROCESS_AT: usize = 200;
        pub const PROCESS_SIZE: usize = 208;
        pub const RING_HEADER_SIZE: usize = 212;
        pub const RING_FIELDS: usize = 216;
        pub const SITES_NEXT: usize = 512;
        pub const DESCS_NEXT: usize = 516;
        pub const SLABS_NEXT: usize = 520;
        pub const STREAMS_NEXT: usize = 524;
        pub const COPIES_JOINED: usize = 528;
        pub const COPIES_NEXT: usize = 532;
        pub const ANCHORS_NEXT: usize = 536;
        pub const EXECUTABLE: usize = 540;
        pub const DESCS_RESERVED: usize = 544;
        pub const IDS_NEXT: usize = 552;
        pub const SESSION_LOSSES: usize = 560;
        pub const DOORBELL: usize = 640;
        pub const PROBES_WAKE: usize = 648;
        pub const PROBES_ASKED: usize = 652;
        pub const GENERATION: usize = 704;
        pub const DIRECTIVES_LEN: usize = 708;
        pub const COLLECTOR_PID: usize = 768;
        pub const COLLECTOR_SLEEPING: usize = 772;
        pub const HEARTBEAT: usize = 776;
        pub const COLLECTOR_STATE: usize = 784;
        pub const BLOCK_MAX_MS: usize = 788;
        pub const POLICY: usize = 792;
        pub const FOLLOWERS: usize = 832;
    }
    /// Entries of the table of followers, and bytes of each: thread, then the generation that it has followed.
    pub const FOLLOWERS_CAP: usize = 8;
    /// See [`FOLLOWERS_CAP`].
    pub const FOLLOWER_ENTRY: usize = 8;
    /// Thread of a follower that is being started.
    pub const FOLLOWER_STARTS: u32 = u32::MAX;
    /// `executable`: the executable has a copy.
    pub const EXECUTABLE_THERE: u32 = 1;
    /// `executable`: that copy has left, the process is ending.
    pub const EXECUTABLE_ENDED: u32 = 2;
    /// Header flag: a collector is expected.
    pub const FLAG_EXPECTED: u32 = 1;
    /// Header flag: recording was demanded by the environment.
    pub const FLAG_DEMANDED: u32 = 2;
    /// `block_max_ms` that means "for ever".
    pub const BLOCK_FOR_EVER: u32 = u32::MAX;
    /// Bytes of an entry of the slab directory.
    pub const SLAB_ENTRY: usize = 16;
    /// Offset in an entry of the word that the collector writes: how far it has prepared the slab.
    pub const SLAB_PREPARED: usize = 12;
    /// Bytes of an anchor in the control file.
    pub const ANCHOR_ENTRY: usize = 32;
    /// XORed into an anchor's check.
    pub const ANCHOR_CHECK: u64 = 0x5350_4E43_4830_3031;
}

/// State bytes of sites (spec/wire.md section 3.3).
pub mod state {
    /// Record into the ring.
    pub const RING: u8 = 1;
    /// A system tracer is asked for: whether it wants the site's event is to be seen there (section 3.7).
    pub const PROBED: u8 = 2;
    /// The ring wants the records, and the one tracer that is asked for did not want the events lately. They
    /// are one more than the number of its bit in `probes_asked`.
    pub const QUIET: u8 = 7 << 2;

    /// The state of such a site.
    pub const fn quiet(tracer: u32) -> u8 {
        RING | PROBED | ((tracer.trailing_zeros() as u8 + 1) << 2 & QUIET)
    }
}

/// Bits of the header's `probes_asked`.
pub mod probes {
    /// LTTng-UST.
    pub const LTTNG: u32 = 1;
    /// user_events of the kernel.
    pub const USER_EVENTS: u32 = 2;
    /// trace_marker of the kernel.
    pub const TRACE_MARKER: u32 = 4;
}

/// Clock sources (header field `clock_source`).
pub mod clock_source {
    /// x86 time-stamp counter.
    pub const TSC: u32 = 1;
    /// AArch64 virtual counter.
    pub const CNTVCT: u32 = 2;
    /// CLOCK_MONOTONIC in nanoseconds.
    pub const MONOTONIC: u32 = 3;
}

/// States of the collector (header field `collector_state`).
pub mod collector_state {
    /// Nobody collects.
    pub const NONE: u32 = 0;
    /// Collecting.
    pub const COLLECTING: u32 = 1;
    /// Alive, but cannot store.
    pub const SINK_FULL: u32 = 2;
    /// Letting go.
    pub const LEAVING: u32 = 3;
}

/// The site table (spec/wire.md section 3.2).
pub mod site_entry {
    /// Bytes of an entry.
    pub const SIZE: usize = 32;
    /// Offset of `stage`.
    pub const STAGE: usize = 0;
    /// Offset of `location_at`.
    pub const LOCATION_AT: usize = 4;
    /// Offset of `body_at`.
    pub const BODY_AT: usize = 8;
    /// Offset of `hash`.
    pub const HASH: usize = 16;
    /// Offset of `probe`.
    pub const PROBE: usize = 24;
    /// Stage: nothing here.
    pub const EMPTY: u32 = 0;
    /// Stage: being written.
    pub const WRITING: u32 = 1;
    /// Stage: the location is valid.
    pub const LOCATED: u32 = 2;
    /// Stage: location and body are valid.
    pub const COMPLETE: u32 = 3;
    /// The id of entry 0.
    pub const FIRST_ID: u32 = 16;
}

/// A ring's header (spec/wire.md section 4).
pub mod ring {
    /// "SPRG".
    pub const MAGIC: u32 = 0x4752_5053;
    /// Bytes of the header; data follow.
    pub const HEADER_SIZE: usize = 256;
    #[allow(missing_docs)]
    pub mod at {
        pub const MAGIC: usize = 0;
        pub const STATE: usize = 4;
        pub const OWNER_TID: usize = 8;
        pub const STREAM: usize = 12;
        pub const CAPACITY: usize = 16;
        pub const DATA_AT: usize = 20;
        pub const LANE: usize = 24;
        pub const COPY: usize = 26;
        pub const PREVIOUS: usize = 28;
        pub const CLAIMED_TICKS: usize = 32;
        pub const NAME: usize = 40;
        pub const BASE: usize = 56;
        pub const COMMITTED: usize = 64;
        pub const OLDEST: usize = 72;
        pub const WAITING: usize = 80;
        pub const STALLS: usize = 88;
        pub const STALL_NS: usize = 96;
        pub const CONSUMED: usize = 128;
        pub const WAKE: usize = 136;
        pub const TOLD: usize = 144;
        pub const RETURNED: usize = 152;
        pub const LOSSES: usize = 192;
    }
    /// The bits of the state word that hold the state. The others count adoptions, so that a thread that read
    /// the word before an adoption takes nothing after it.
    pub const STATE_MASK: u32 = 0xFF;
    /// One adoption in the state word.
    pub const ADOPTION: u32 = 0x100;
    /// Not owned; may be claimed.
    pub const FREE: u32 = 0;
    /// Being claimed; holds nothing.
    pub const CLAIMING: u32 = 1;
    /// Owned by a thread.
    pub const LIVE: u32 = 2;
    /// Left by its owner; to be drained.
    pub const RETIRED: u32 = 3;
    /// In `returned`: the memory of the slice is there.
    pub const PRESENT: u32 = 0;
    /// In `returned`: a collector gives it back now.
    pub const RETURNING: u32 = 1;
    /// In `returned`: it was given back, or not all of it was made yet.
    pub const RETURNED: u32 = 2;
    /// What a slice keeps when its memory is given back: the header is there.
    pub const KEPT: usize = 4096;
    /// The highest lane.
    pub const LANE_MAX: u16 = 3;
    /// The contents of `ring_fields` in the control header.
    pub const FIELDS: [u16; 12] = [4, 8, 16, 20, 12, 64, 72, 80, 128, 136, 192, 40];
    /// Slice sizes in ascending order.
    pub const SLICE_SIZES: [usize; 4] = [2 << 10, 16 << 10, 128 << 10, 1 << 20];
    /// Smallest and largest size of a slab.
    pub const SLAB_MIN: usize = 64 << 10;
    /// Largest size of a slab.
    pub const SLAB_MAX: usize = 1 << 20;
    /// Sub-buffers of a ring.
    pub const SUB_BUFFERS: usize = 8;
}

/// Records (spec/wire.md sections 5 and 6).
pub mod record {
    /// Bytes of a record's header.
    pub const HEADER_SIZE: usize = 16;
    /// Smallest pad.
    pub const PAD_MIN: usize = 8;
    /// Bits of the size in the first word.
    pub const SIZE_MASK: u32 = 0x00FF_FFFF;
    /// Flag: an argument was cut.
    pub const TRUNCATED: u32 = 1 << 24;
    /// Largest record.
    pub const SIZE_MAX: usize = 256 << 10;
    /// Site id of a pad.
    pub const PAD: u32 = 0;
    /// Site id of a loss record.
    pub const LOSS: u32 = 1;
    /// Site id of a stall record.
    pub const STALL: u32 = 2;
    /// Site id of a span's end.
    pub const SPAN_END: u32 = 3;
    /// Site id of a thread's name.
    pub const THREAD_NAME: u32 = 4;
    /// Site id of a thread's end.
    pub const THREAD_END: u32 = 5;
    /// Site id of a context: fields of all records of the stream that follow.
    pub const CONTEXT: u32 = 6;
    /// Largest item of a context.
    pub const CONTEXT_MAX: usize = 64 << 10;
}

/// Number of causes of loss.
pub const CAUSES: usize = 8;
/// Crash records (spec/crash.md).
pub mod crash {
    /// Category of their sites.
    pub const CATEGORY: &str = "silverpoint.crash";
    /// Names of the arguments, each ended by a newline.
    pub const NAMES: &str =
        "what\ncause\nwhere\nsignal\nname\ncode\ncode_name\naddress\nsender\ntid\nthread\nstack\nmodules\n";
    /// Their types.
    pub const SIGNATURE: &str = "sssisis?p?IIs[p[<module|path:s,build_id:y,base:p,begin:p,end:p,>";
}

/// Names of the causes of loss, by number (spec/wire.md section 6).
pub const CAUSE_NAMES: [&str; CAUSES] =
    ["full", "collector_gone", "sink_full", "no_memory", "nested", "too_large", "no_site", "other"];
#[allow(missing_docs)]
pub mod cause {
    pub const FULL: usize = 0;
    pub const COLLECTOR_GONE: usize = 1;
    pub const SINK_FULL: usize = 2;
    pub const NO_MEMORY: usize = 3;
    pub const NESTED: usize = 4;
    pub const TOO_LARGE: usize = 5;
    pub const NO_SITE: usize = 6;
    pub const OTHER: usize = 7;
}

/// The collector's intent (spec/wire.md section 9).
pub mod intent {
    #[allow(missing_docs)]
    pub mod at {
        pub const SEQUENCE: usize = 0;
        pub const DEV: usize = 8;
        pub const INO: usize = 16;
        pub const OFFSET: usize = 24;
        pub const PATH_LEN: usize = 32;
        pub const CRC: usize = 36;
        pub const PATH: usize = 40;
    }
    /// Longest path.
    pub const PATH_MAX: usize = 4000;
}

/// The mode as it was before a collector changed it (spec/wire.md section 9).
pub mod kept {
    /// Where it stands in the file `collector`.
    pub const AT: u64 = 4096;
    /// How it begins.
    pub const MAGIC: [u8; 8] = *b"SPMODE\r\n";
    #[allow(missing_docs)]
    pub mod at {
        pub const CRC: usize = 8;
        pub const DIRECTIVES_SIZE: usize = 12;
        pub const DIRECTIVES_LEN: usize = 16;
        pub const STATES: usize = 20;
        pub const BLOCK_MAX_MS: usize = 24;
        pub const POLICY: usize = 32;
        pub const DIRECTIVES: usize = 40;
    }
}

/// Site descriptions (spec/wire.md section 7).
pub mod site {
    /// Bytes before the texts.
    pub const FIXED_SIZE: usize = 48;
    /// Largest description.
    pub const SIZE_MAX: usize = 65_536;
    /// Flag: template, names and signature are not known yet.
    pub const PENDING: u16 = 1;
    /// Flag: the template is of the `%` grammar.
    pub const PERCENT: u16 = 2;
    /// Flag: nothing is recorded of the site, which is only asked whether it is on.
    pub const QUESTION: u16 = 4;
}

/// Signatures (spec/wire.md section 10).
pub mod signature {
    /// Longest signature in bytes.
    pub const SIZE_MAX: usize = 16_384;
    /// Deepest nesting.
    pub const NESTING_MAX: usize = 32;
    /// Most arguments.
    pub const ARGS_MAX: usize = 255;
    /// Most elements of zero size in a sequence.
    pub const ZERO_SIZED_MAX: usize = 65_536;
    /// Bit of a u32 length: the value was cut.
    pub const CUT: u32 = 1 << 31;
}

/// Trace file blocks (spec/file.md).
pub mod block {
    /// Every block starts so.
    pub const SYNC: [u8; 8] = [0x9E, b'S', b'P', b'B', b'L', b'K', b'\r', b'\n'];
    /// Bytes of the header.
    pub const HEADER_SIZE: usize = 96;
    /// Largest payload, stored and raw.
    pub const PAYLOAD_MAX: usize = 16 << 20;
    /// Bytes between repetitions of the dictionaries.
    pub const SEGMENT: u64 = 64 << 20;
    /// `levels` bit: control records other than pads occur.
    pub const LEVELS_CONTROL: u32 = 1 << 31;
    /// `flags` bit: late.
    pub const LATE: u32 = 1;
    /// Encoding: the bytes of the ring.
    pub const RAW: u8 = 0;
    /// Encoding: spec/file.md section 3.
    pub const COMPACT: u8 = 1;
    /// Encoding, over raw or compact: an lz4 block (spec/file.md section 3.1).
    pub const LZ4: u8 = 0x10;
    /// Encoding, over raw or compact: a zstd frame.
    pub const ZSTD: u8 = 0x20;
}
