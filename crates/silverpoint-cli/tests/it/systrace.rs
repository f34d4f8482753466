//! Both outputs of ATrace: what a ring had becomes, by `convert`, what the kernel was given.

use crate::harness::{Scratch, end, example};

/// The messages of a text as the kernel shows it.
fn messages(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|line| line.split_once(": tracing_mark_write: "))
        .map(|(_, message)| message)
        .collect()
}

#[test]
fn a_converted_ring_has_every_message_of_the_kernels_to_the_byte() {
    for seed in 1..=4 {
        let scratch = Scratch::new();
        let mut command = scratch.silverpoint(["run", "-o", "t.silver", "--filter", "atrace=info", "--"]);
        command
            .arg(example("atraced"))
            .args([&seed.to_string(), "6000"])
            .env("SILVERPOINT_ATRACE_MARKER", scratch.path("marker"))
            .env("debug.atrace.tags.enableflags", "0x1002");
        std::fs::write(scratch.path("marker"), "").unwrap();
        let ended = end(&mut command);
        assert_eq!(ended.code(), Some(0), "{ended:?}");
        let ended = scratch.run(["convert", "--to", "systrace", "t.silver", "t.txt"]);
        assert_eq!(ended.code(), Some(0), "{ended:?}");
        let of_kernel = std::fs::read_to_string(scratch.path("marker")).unwrap();
        let of_kernel: Vec<&str> = of_kernel.lines().collect();
        let of_ring = std::fs::read_to_string(scratch.path("t.txt")).unwrap();
        let of_ring = messages(&of_ring);
        let wrong = of_kernel.iter().zip(&of_ring).position(|(kernel, ring)| kernel != ring);
        let at = |messages: &[&str]| wrong.map(|at| messages[at].to_owned());
        assert_eq!(at(&of_ring), at(&of_kernel), "seed {seed}, message {wrong:?}");
        assert_eq!(of_ring.len(), of_kernel.len(), "seed {seed}");
        assert!(of_kernel.len() > 6000, "seed {seed}: {}", of_kernel.len());
    }
}
