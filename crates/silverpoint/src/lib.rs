//! Rust frontend of Silverpoint: tracepoints, spans and counters
