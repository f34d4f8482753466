//! Troubles of a thread, by cause: losses, waits, overwritten and late records.

use silverpoint_trace::{Stream, cause_name};
use silverpoint_wire::layout::CAUSES;

/// Of one thread, or of a session as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Troubles {
    /// Records lost, by cause.
    pub losses: [u64; CAUSES],
    /// Waits for room.
    pub stalls: u64,
    /// How long altogether.
    pub stall_ns: u64,
    /// Stretches of the ring that could not be stored, mostly since they were overwritten.
    pub gaps: u64,
    /// Their bytes.
    pub gap_bytes: u64,
    /// Records that were kept back and dropped on purpose.
    pub forgotten: u64,
    /// There were more, uncounted.
    pub forgotten_more: bool,
    /// Records in blocks that came after a watermark beyond them.
    pub late: u64,
}

/// One line of the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The name of the cause: as in the specification, or `wait`, `overwritten`, `forgotten`, `late`.
    pub cause: &'static str,
    /// Records; of waits and gaps how many of these.
    pub count: u64,
    /// There were more, uncounted.
    pub has_more: bool,
    /// Of a wait: nanoseconds altogether; of gaps: bytes.
    pub amount: Option<u64>,
    /// What it means, and what helps.
    pub meaning: &'static str,
}

impl Troubles {
    /// Adds the counters of a stream.
    pub(super) fn add_stream(&mut self, stream: &Stream) {
        let loss = &stream.loss;
        self.add_losses(loss.losses);
        self.stalls = self.stalls.saturating_add(loss.stalls);
        self.stall_ns = self.stall_ns.saturating_add(loss.stall_ns);
        for gap in &stream.gaps {
            if let Some(forgotten) = gap.forgotten {
                self.forgotten = self.forgotten.saturating_add(forgotten.records);
                self.forgotten_more |= forgotten.has_more;
                continue;
            }
            self.gaps = self.gaps.saturating_add(1);
            self.gap_bytes = self.gap_bytes.saturating_add(gap.bytes());
        }
    }

    /// Adds losses by cause.
    pub(super) fn add_losses(&mut self, losses: [u64; CAUSES]) {
        for (total, loss) in self.losses.iter_mut().zip(losses) {
            *total = total.saturating_add(loss);
        }
    }

    /// Line by line, the losses first.
    pub fn list(&self) -> Vec<Trouble> {
        let mut all: Vec<Trouble> = self
            .losses
            .iter()
            .enumerate()
            .map(|(cause, count)| Trouble {
                cause: cause_name(cause as u8),
                count: *count,
                has_more: false,
                amount: None,
                meaning: meaning(cause),
            })
            .collect();
        all.push(Trouble {
            cause: "wait",
            count: self.stalls,
            has_more: false,
            amount: Some(self.stall_ns),
            meaning: "the ring was full: its thread waited for the collector",
        });
        all.push(Trouble {
            cause: "overwritten",
            count: self.gaps,
            has_more: false,
            amount: Some(self.gap_bytes),
            meaning: "bytes of the ring were gone before they were stored: policy overwrite, or nobody collected",
        });
        all.push(Trouble {
            cause: "forgotten",
            count: self.forgotten,
            has_more: self.forgotten_more,
            amount: None,
            meaning: "kept back by --backtrace and not asked for: nothing bad came soon enough after them",
        });
        all.push(Trouble {
            cause: "late",
            count: self.late,
            has_more: false,
            amount: None,
            meaning: "stored after a time that had been declared complete: live views show them out of order, files do not",
        });
        all.retain(|trouble| trouble.count > 0 || trouble.has_more);
        all
    }
}

/// Of a cause of losses (wire format, section 6).
fn meaning(cause: usize) -> &'static str {
    match cause {
        0 => "the ring was full and the policy is drop: more memory, or policy block",
        1 => "the ring was full and the collector made no progress for as long as a thread waits (block_max)",
        2 => "the ring was full and the collector could not store: its disk or quota is full",
        3 => "no ring could be made: shared memory is full (silverpoint doctor)",
        4 => "recorded in a signal handler more than three deep, or inside the library itself",
        5 => "the record is larger than a quarter of the largest ring and cannot be cut",
        6 => "the table of sites is full",
        _ => "another cause",
    }
}
