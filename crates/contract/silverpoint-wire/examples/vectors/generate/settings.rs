//! settings.json: what the variables of the environment ask for (the last paragraph of spec/directives.md).

use super::json::Json;

const BLOCK: &str = "block block block block block block";
const DROP: &str = "drop drop drop drop drop drop";
const OVERWRITE: &str = "overwrite overwrite overwrite overwrite overwrite overwrite";
const DEFAULT_MS: u32 = 1000;
const FOR_EVER: u32 = u32::MAX;

/// Text of SILVERPOINT_POLICY; what each level does, trace to fatal; the longest wait.
const POLICIES: &[(&str, &str, u32)] = &[
    // The first is for all levels.
    ("block", BLOCK, DEFAULT_MS),
    ("drop", DROP, DEFAULT_MS),
    ("overwrite", OVERWRITE, DEFAULT_MS),
    ("block=forever", BLOCK, FOR_EVER),
    // Others are for one level.
    ("block,debug=drop", "block drop block block block block", DEFAULT_MS),
    ("debug=drop", "block drop block block block block", DEFAULT_MS),
    ("drop,fatal=block", "drop drop drop drop drop block", DEFAULT_MS),
    (
        "overwrite,error=block,warn=block=forever",
        "overwrite overwrite overwrite block block overwrite",
        FOR_EVER,
    ),
    ("trace=drop,trace=overwrite", "overwrite block block block block block", DEFAULT_MS),
    // Spaces around names, and levels in upper or lower case.
    ("block, debug=drop", "block drop block block block block", DEFAULT_MS),
    (" drop ", DROP, DEFAULT_MS),
    ("overwrite ,\tinfo = block ", "overwrite overwrite block overwrite overwrite overwrite", DEFAULT_MS),
    ("debug=drop, Fatal=block=forever", "block drop block block block block", FOR_EVER),
    ("drop,ERROR=block", "drop drop drop drop block drop", DEFAULT_MS),
    // What is not understood is passed over, that part alone.
    ("", BLOCK, DEFAULT_MS),
    (",", BLOCK, DEFAULT_MS),
    ("wait", BLOCK, DEFAULT_MS),
    ("Drop", BLOCK, DEFAULT_MS),
    ("block=2s", BLOCK, DEFAULT_MS),
    ("drop,verbose=block", DROP, DEFAULT_MS),
    ("verbose=drop", BLOCK, DEFAULT_MS),
    ("off=drop", BLOCK, DEFAULT_MS),
    ("on=drop", BLOCK, DEFAULT_MS),
    ("=drop", BLOCK, DEFAULT_MS),
    ("drop,warn=blok", DROP, DEFAULT_MS),
    ("drop,warn=", DROP, DEFAULT_MS),
    ("drop,warn", DROP, DEFAULT_MS),
    ("drop,warn=block=2s", DROP, DEFAULT_MS),
    ("drop,verbose=block=forever", DROP, DEFAULT_MS),
    ("nonsense,error=drop,what=drop,warn=what", "block block block block drop block", DEFAULT_MS),
    // Only the first is for all levels.
    ("drop,block", DROP, DEFAULT_MS),
    ("drop,block=forever", DROP, DEFAULT_MS),
    ("error=drop,overwrite", "block block block block drop block", DEFAULT_MS),
    ("nonsense,drop", BLOCK, DEFAULT_MS),
    (",drop", BLOCK, DEFAULT_MS),
];

/// Text of SILVERPOINT_BLOCK_MAX, milliseconds.
const WAITS: &[(&str, u32)] = &[
    ("250ms", 250),
    ("3s", 3000),
    ("3 s", 3000),
    (" 20ms ", 20),
    ("200", 200),
    ("0", 0),
    ("0ms", 0),
    ("60s", 60_000),
    ("4294967s", 4_294_967_000),
    ("4294967295ms", u32::MAX - 1),
    // Not understood.
    ("", DEFAULT_MS),
    ("abc", DEFAULT_MS),
    ("s", DEFAULT_MS),
    ("-1", DEFAULT_MS),
    ("1.5s", DEFAULT_MS),
    ("2m", DEFAULT_MS),
    ("2min", DEFAULT_MS),
    ("5S", DEFAULT_MS),
    ("4294967296ms", DEFAULT_MS),
    ("9999999999s", DEFAULT_MS),
    ("99999999999999999999", DEFAULT_MS),
];

/// Text of SILVERPOINT_MEMORY, bytes; 0 when it asks for nothing.
const SIZES: &[(&str, u64)] = &[
    ("65536", 65_536),
    ("64K", 65_536),
    ("64k", 65_536),
    (" 2M", 2 << 20),
    ("2 m", 2 << 20),
    ("1G", 1 << 30),
    ("3g", 3 << 30),
    ("", 0),
    ("0", 0),
    ("M", 0),
    ("1X", 0),
    ("1MB", 0),
    ("-1M", 0),
    ("99999999999999999999", 0),
    ("18446744073709551615K", 0),
];

fn vector(variable: &'static str, text: &str, levels: &str, block_max_ms: u32, bytes: u64) -> Json {
    Json::Object(vec![
        ("name", Json::text(format!("{variable}: {text}"))),
        (variable, Json::text(text)),
        ("levels", Json::text(levels)),
        ("block_max_ms", Json::int(block_max_ms)),
        ("bytes", Json::int(bytes)),
        ("verdict", Json::text("ok")),
    ])
}

/// The vectors.
pub fn vectors() -> Vec<Json> {
    let policies =
        POLICIES.iter().map(|(text, levels, block_max_ms)| vector("policy", text, levels, *block_max_ms, 0));
    let waits = WAITS.iter().map(|(text, block_max_ms)| vector("block_max", text, BLOCK, *block_max_ms, 0));
    let sizes = SIZES.iter().map(|(text, bytes)| vector("memory", text, BLOCK, DEFAULT_MS, *bytes));
    policies.chain(waits).chain(sizes).collect()
}
