//! UUIDs: 16 bytes, in the order of their text. Feature `uuid`.

use ::uuid::{NonNilUuid, Uuid};

use super::{Known, Trace, transparent};
use crate::item::Item;
use crate::sig::Sig;
use crate::writer::Writer;

impl Trace for Uuid {
    const SIGNATURE: Sig = Sig::Text("u");
    const FIXED: Option<usize> = Some(16);
    const EXACT: Known<Self> = Known::when(true);
    const ONCE: bool = false;

    #[inline(always)]
    fn trace_size(&self) -> usize {
        16
    }
    #[inline(always)]
    fn trace_write(&self, writer: &mut Writer<'_>) {
        writer.bytes(*self.as_bytes());
    }
    fn trace_item(&self, item: &mut Item<'_>) {
        item.uuid(self.as_bytes());
    }
}

transparent! {
    [] NonNilUuid as Uuid, self => &Uuid::from(*self);
}
