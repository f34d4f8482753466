//! Records of a callsite: with fields of any type, which a visit gives, or with arguments of known types.

use silverpoint::dynamic::{self, Arguments, Encoder, Given, Marks, Recorded, Wanted};

use crate::callsite::Callsite;
use crate::fields::{Plan, Take};
use crate::role::Role;

/// Encodes fields, each of which is read once, before the ring is used: code that formats a value may record
/// something, unwind or fork. Gives the site of the plan, if the fields are its; otherwise 0, and marks have
/// them.
#[inline(always)]
pub(crate) fn take(
    arguments: &mut Arguments,
    marks: &mut Marks,
    plan: &Plan,
    visit: impl FnOnce(&mut Take<'_, '_>),
) -> u32 {
    arguments.encode(|encoder| {
        let mut take = Take::new(encoder, marks, plan);
        visit(&mut take);
        take.site(plan)
    })
}

/// Records with fields, behind a number where there is one: finds the site of their shape, or registers it.
pub(crate) fn with_fields(
    callsite: &Callsite,
    wanted: Wanted,
    role: Role,
    before: Option<u64>,
    visit: impl FnOnce(&mut Take<'_, '_>),
) {
    let mut arguments = Arguments::new();
    let mut marks = Marks::new(role.mark());
    let _ = take(&mut arguments, &mut marks, Plan::NOTHING, visit);
    let _ = record_taken(callsite, wanted, role, before, &mut arguments, &marks);
}

/// Gives the ticks of the record, 0 where there is none.
#[inline(never)]
pub(crate) fn record_taken(
    callsite: &Callsite,
    wanted: Wanted,
    role: Role,
    before: Option<u64>,
    arguments: &mut Arguments,
    marks: &Marks,
) -> u64 {
    let recorded = match (callsite.site(role, marks), before) {
        (0, _) => return callsite.record_general(role, marks, arguments, before, wanted),
        (site, _) if !wanted.of_site(site).by_ring_alone() => {
            return arguments.give(callsite.level, site, before, wanted).ticks;
        }
        (site, None) => arguments.record(callsite.level, site),
        (site, Some(number)) => arguments.record_behind(callsite.level, site, number),
    };
    match recorded {
        Recorded::At { ticks } => ticks,
        _ => 0,
    }
}

/// Records arguments of known types at a site that has no fields. Gives the site and the ticks of the record;
/// zeros where there is none.
pub(crate) fn plain(
    callsite: &Callsite,
    wanted: Wanted,
    role: Role,
    mut fill: impl FnMut(&mut Encoder<'_>),
) -> (u32, Given) {
    const NOTHING: (u32, Given) = (0, Given { ticks: 0, is_recorded: false });
    let id = callsite.plain(role);
    if id == 0 {
        if wanted.by_ring() {
            dynamic::lose_without_site();
        }
        return NOTHING;
    }
    let wanted = wanted.of_site(id);
    if !wanted.by_ring_alone() {
        return (id, dynamic::give_short(callsite.level, id, wanted, &mut fill));
    }
    match dynamic::record_short(callsite.level, id, fill) {
        Recorded::At { ticks } => (id, Given { ticks, is_recorded: true }),
        _ => NOTHING,
    }
}
