//! The shared library's name, and that it is never unloaded: its threads run to the end of the process.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libsilverpoint.so.0");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
