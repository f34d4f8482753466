//! Files of files.json whose blocks stand otherwise than one writer has put them: joined, moved, without their beginning. A reader gives all records that are there.

use super::files::{How, Trace, numbers, ready};

/// Name, bytes, verdict, and how many records a reader gives.
pub type Pieced = (&'static str, Vec<u8>, &'static str, u32);

/// A file of one session and one stream: so many blocks of two records.
fn trace(other: u8, blocks: u64) -> Trace {
    let mut trace = Trace::begin_other(How::default(), other, 1, 1);
    for block in 0..blocks {
        trace.records(1, 1, &[numbers(10 * block, i128::from(block)), ready(10 * block + 5)]);
    }
    trace
}

/// The same, closed, with everything described once more before its end.
fn closed(other: u8, blocks: u64) -> Vec<u8> {
    let mut trace = trace(other, blocks);
    trace.file.about(1, None);
    trace.dictionaries(1, 1);
    trace.file.index();
    trace.file.end_with_index();
    trace.file.out
}

/// Where the blocks begin, of which the first five are descriptions; at last the length.
fn places(bytes: &[u8]) -> Vec<usize> {
    let (mut places, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        places.push(at);
        let size = u32::from_le_bytes([bytes[at + 12], bytes[at + 13], bytes[at + 14], bytes[at + 15]]);
        at = (at + 96 + size as usize).next_multiple_of(8);
    }
    places.push(at);
    places
}

pub fn pieced() -> Vec<Pieced> {
    let (first, second) = (closed(0, 3), closed(1, 4));
    let at = places(&first);
    let records = &at[5..];
    // The second block of records is not whole, and ends at an odd byte.
    let cut = &first[..records[1] + 101];
    let moved = |order: [usize; 3]| {
        let blocks = order.iter().flat_map(|block| &first[records[*block]..records[block + 1]]);
        let mut out = first[..records[0]].to_vec();
        out.extend(blocks);
        out.extend_from_slice(&first[records[3]..]);
        out
    };
    let mut without_beginning = first.clone();
    without_beginning[..records[0]].fill(0);
    let mut without_description = first.clone();
    without_description[at[1] + 100] ^= 4;
    vec![
        ("described twice", first.clone(), "ok", 6),
        ("joined files", [&first[..], &second].concat(), "ok", 14),
        ("joined to itself", [&first[..], &first].concat(), "ok", 6),
        ("joined and back", [&first[..], &second, &first].concat(), "ok", 14),
        ("joined to a cut file", [cut, &second].concat(), "damaged", 10),
        ("moved blocks behind an index", moved([0, 2, 1]), "damaged", 6),
        ("all blocks moved behind an index", moved([2, 0, 1]), "damaged", 6),
        ("beginning lost and described again", without_beginning, "damaged", 6),
        ("session damaged and described again", without_description, "damaged", 6),
    ]
}
