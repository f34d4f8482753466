//! Points in time of other crates that keep their offset from UTC.

use super::Trace;
use crate::item::Item;
use crate::sig::Sig;
use crate::writer::Writer;

/// A point in time and what the clocks of its place are ahead of UTC: the type that zoned times have in any language.
pub(super) const ZONED: Sig = Sig::Text("<zoned_time|time:t,zone:s,>");

/// Nanoseconds and the text of the offset: most are of whole minutes, `+01:00`.
pub(super) const fn zoned_size(offset_seconds: i32) -> usize {
    8 + 4 + if offset_seconds % 60 == 0 { 6 } else { 9 }
}

/// Writes a value of type [`ZONED`].
pub(super) fn write_zoned(ns: i64, offset_seconds: i32, writer: &mut Writer<'_>) {
    let zone = zone(offset_seconds);
    ns.trace_write(writer);
    let len = zoned_size(offset_seconds) - 12;
    // Whole even where texts are cut, as `trace_least` says.
    writer.length(len);
    writer.raw(&zone[..len]);
}

/// The same in an item.
pub(super) fn zoned_item(ns: i64, offset_seconds: i32, item: &mut Item<'_>) {
    let mut nest = item.begin_map();
    if item.next(&mut nest) {
        item.text("time");
        item.time(ns);
    }
    if item.next(&mut nest) {
        item.text("zone");
        item.text_lossy(&zone(offset_seconds)[..zoned_size(offset_seconds) - 12]);
    }
    item.end(nest);
}

/// `+01:00:00`
fn zone(offset_seconds: i32) -> [u8; 9] {
    let mut zone = *b"+00:00:00";
    if offset_seconds < 0 {
        zone[0] = b'-';
    }
    let seconds = offset_seconds.unsigned_abs();
    for (at, number) in [(1, seconds / 3600 % 100), (4, seconds / 60 % 60), (7, seconds % 60)] {
        zone[at] += (number / 10) as u8;
        zone[at + 1] += (number % 10) as u8;
    }
    zone
}
