//! Where nothing can be recorded, one note says so.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(usdt)");
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let records = ["linux", "android"].contains(&system.as_str());
    if !records {
        println!("cargo::warning=nothing is recorded on this system, only on Linux: all tracepoints are off");
    }
    // Elsewhere the feature asks for nothing.
    if records && std::env::var_os("CARGO_FEATURE_USDT").is_some() {
        println!("cargo::rustc-cfg=usdt");
    }
}
