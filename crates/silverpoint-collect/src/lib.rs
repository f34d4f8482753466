//! Drains sessions into trace files: order, deliver, rotate, recover
