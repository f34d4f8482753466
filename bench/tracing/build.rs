//! Links the harness and the floor: the same archive as the other drivers, built by `bench/run`, which names its directory.

fn main() {
    println!("cargo::rerun-if-env-changed=SILVERPOINT_BENCH_HARNESS");
    let directory = std::env::var("SILVERPOINT_BENCH_HARNESS").expect(
        "SILVERPOINT_BENCH_HARNESS names the directory of libharness.a (bench/run builds it and sets this)",
    );
    println!("cargo::rerun-if-changed={directory}/libharness.a");
    println!("cargo::rustc-link-search=native={directory}");
    println!("cargo::rustc-link-lib=static=harness");
}
