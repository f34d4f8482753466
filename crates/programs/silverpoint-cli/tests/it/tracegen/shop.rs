// Made by `silverpoint tracegen --rust`; do not edit.

/// An enumeration: `shop::Side`. Values without a name are possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Side(pub i32);

#[allow(missing_docs, non_upper_case_globals, dead_code)]
impl Side {
    pub const buy: Self = Self(1);
    pub const sell: Self = Self(2);
}

impl silverpoint::Trace for Side {
    const SIGNATURE: silverpoint::Sig = silverpoint::Sig::List(&[
        silverpoint::Sig::Text("e"),
        silverpoint::Sig::Name("shop::Side"),
        silverpoint::Sig::Text("|"),
        silverpoint::Sig::List(&[<i32 as silverpoint::Trace>::SIGNATURE]),
        silverpoint::Sig::Text("|"),
        silverpoint::Sig::Number(1),
        silverpoint::Sig::Text("=buy,"),
        silverpoint::Sig::Number(2),
        silverpoint::Sig::Text("=sell,"),
        silverpoint::Sig::Text(";"),
    ]);
    const FIXED: Option<usize> = <i32 as silverpoint::Trace>::FIXED;
    #[inline]
    fn trace_size(&self) -> usize {
        silverpoint::Trace::trace_size(&self.0)
    }
    #[inline]
    fn trace_write(&self, writer: &mut silverpoint::Writer<'_>) {
        silverpoint::Trace::trace_write(&self.0, writer);
    }
    fn trace_item(&self, item: &mut silverpoint::Item<'_>) {
        silverpoint::Trace::trace_item(&self.0, item);
    }
}

/// A set of flags: `shop::Mode`. Values without a name are possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mode(pub u32);

#[allow(missing_docs, non_upper_case_globals, dead_code)]
impl Mode {
    pub const read: Self = Self(1);
    pub const write: Self = Self(2);
}

impl core::ops::BitOr for Mode {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl silverpoint::Trace for Mode {
    const SIGNATURE: silverpoint::Sig = silverpoint::Sig::List(&[
        silverpoint::Sig::Text("@flags="),
        silverpoint::Sig::Name("1=read"),
        silverpoint::Sig::Name(",2=write"),
        silverpoint::Sig::Text(";"),
        silverpoint::Sig::Text("e"),
        silverpoint::Sig::Name("shop::Mode"),
        silverpoint::Sig::Text("|"),
        silverpoint::Sig::List(&[<u32 as silverpoint::Trace>::SIGNATURE]),
        silverpoint::Sig::Text("|"),
        silverpoint::Sig::Text(";"),
    ]);
    const FIXED: Option<usize> = <u32 as silverpoint::Trace>::FIXED;
    #[inline]
    fn trace_size(&self) -> usize {
        silverpoint::Trace::trace_size(&self.0)
    }
    #[inline]
    fn trace_write(&self, writer: &mut silverpoint::Writer<'_>) {
        silverpoint::Trace::trace_write(&self.0, writer);
    }
    fn trace_item(&self, item: &mut silverpoint::Item<'_>) {
        silverpoint::Trace::trace_item(&self.0, item);
    }
}

/// Records `placed`, if it is on.
#[allow(non_snake_case, dead_code, clippy::too_many_arguments)]
#[inline]
pub fn trace_placed(order: u64, side: Side, price: f64, customer: &str) {
    silverpoint::event!(target: "shop", level: info, "placed", order, side, price, customer);
}

/// Whether `placed` is on.
#[allow(non_snake_case, dead_code)]
#[inline]
pub fn trace_placed_enabled() -> bool {
    silverpoint::enabled!(target: "shop", Info)
}

/// Records `filled`, if it is on.
#[allow(non_snake_case, dead_code, clippy::too_many_arguments)]
#[inline]
pub fn trace_filled(order: u64, parts: &[f32], place: Option<&str>, mode: Mode) {
    silverpoint::event!(target: "shop", level: debug, "filled", order, parts, place, mode);
}

/// Whether `filled` is on.
#[allow(non_snake_case, dead_code)]
#[inline]
pub fn trace_filled_enabled() -> bool {
    silverpoint::enabled!(target: "shop", Debug)
}

/// Records `idle`, if it is on.
#[allow(non_snake_case, dead_code, clippy::too_many_arguments)]
#[inline]
pub fn trace_idle() {
    silverpoint::event!(target: "shop", level: debug, "idle");
}

/// Whether `idle` is on.
#[allow(non_snake_case, dead_code)]
#[inline]
pub fn trace_idle_enabled() -> bool {
    silverpoint::enabled!(target: "shop", Debug)
}
