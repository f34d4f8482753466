//! memory.json: how much memory the rings of a session take, and in slabs of which size (spec/wire.md section 3.4).

use super::json::Json;

const K: u64 = 1 << 10;
const M: u64 = 1 << 20;
const G: u64 = 1 << 30;

/// A machine and a process; a limit that is not there is `None`. Then the slabs: bytes of one, and how many.
struct Case {
    name: &'static str,
    machine: u64,
    room: u64,
    addresses: Option<u64>,
    locked: Option<u64>,
    file_size: Option<u64>,
    asked: Option<u64>,
    slab_bytes: u64,
    slabs: u64,
}

/// With plenty of everything.
const PLENTY: Case = Case {
    name: "plenty",
    machine: 64 * G,
    room: 32 * G,
    addresses: None,
    locked: None,
    file_size: None,
    asked: None,
    slab_bytes: M,
    slabs: 256,
};

const CASES: &[Case] = &[
    PLENTY,
    // A 64th of the memory, or what any machine gives.
    Case { name: "a 64th of the memory", machine: 4 * G, room: 2 * G, slabs: 64, ..PLENTY },
    Case { name: "a 64th is less than 32 MiB", machine: G, room: G, slabs: 32, ..PLENTY },
    Case { name: "a sixteenth of little memory", machine: 64 * M, slab_bytes: 512 * K, slabs: 8, ..PLENTY },
    // A container with a small file system of shared memory.
    Case { name: "a quarter of little room", room: 64 * M, slabs: 16, ..PLENTY },
    Case { name: "room for 256 KiB", room: M, slab_bytes: 64 * K, slabs: 4, ..PLENTY },
    Case { name: "no room at all", room: 0, slab_bytes: 64 * K, slabs: 1, ..PLENTY },
    // Limits of addresses and of locked memory keep it small.
    Case { name: "limited addresses", addresses: Some(1 << 40), slabs: 32, ..PLENTY },
    Case { name: "much may be locked", locked: Some(512 * M), slabs: 32, ..PLENTY },
    Case { name: "too little may be locked", locked: Some(8 * M), ..PLENTY },
    Case { name: "as much may be locked as is small", locked: Some(32 * M), ..PLENTY },
    Case { name: "one byte more may be locked", locked: Some(32 * M + 1), slabs: 32, ..PLENTY },
    Case {
        name: "limited addresses, little room",
        addresses: Some(1 << 40),
        room: 64 * M,
        slabs: 16,
        ..PLENTY
    },
    // What is asked for is taken, on any machine.
    Case { name: "asked for 8 MiB", asked: Some(8 * M), slabs: 8, ..PLENTY },
    Case { name: "asked for a byte less", asked: Some(8 * M - 1), slab_bytes: 512 * K, slabs: 15, ..PLENTY },
    Case { name: "asked for 4 MiB", asked: Some(4 * M), slab_bytes: 512 * K, slabs: 8, ..PLENTY },
    Case { name: "asked for 1 MiB", asked: Some(M), slab_bytes: 128 * K, slabs: 8, ..PLENTY },
    Case { name: "asked for 300 KiB", asked: Some(300 * K), slab_bytes: 64 * K, slabs: 4, ..PLENTY },
    Case { name: "asked for one byte", asked: Some(1), slab_bytes: 64 * K, slabs: 1, ..PLENTY },
    Case { name: "asked for all that there is", asked: Some(u64::MAX >> 11), slabs: 65_536, ..PLENTY },
    Case { name: "asked for more than there is", asked: Some(G), machine: G, room: M, slabs: 1024, ..PLENTY },
    // The largest file that the process may make.
    Case { name: "files of 16 MiB at most", file_size: Some(16 * M), slabs: 16, ..PLENTY },
    Case {
        name: "asked for more than a file may have",
        asked: Some(G),
        file_size: Some(2 * M),
        slab_bytes: 256 * K,
        slabs: 8,
        ..PLENTY
    },
    Case { name: "files that are too small", file_size: Some(K), slab_bytes: 64 * K, slabs: 1, ..PLENTY },
];

/// The vectors.
pub fn vectors() -> Vec<Json> {
    let vector = |case: &Case| {
        let mut fields = vec![("name", Json::text(case.name))];
        let given =
            [("machine", Some(case.machine)), ("room", Some(case.room)), ("addresses", case.addresses)];
        let more = [("locked", case.locked), ("file_size", case.file_size), ("asked", case.asked)];
        for (name, bytes) in given.into_iter().chain(more) {
            fields.extend(bytes.map(|bytes| (name, Json::int(bytes))));
        }
        fields.push(("slab_bytes", Json::int(case.slab_bytes)));
        fields.push(("slabs", Json::int(case.slabs)));
        fields.push(("verdict", Json::text("ok")));
        Json::Object(fields)
    };
    CASES.iter().map(vector).collect()
}
