//! Functions of the program's that are given records before the tracepoints return.

use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use silverpoint_logger::{Made, SynchronousHandler};

use crate::handler::{self, Call, Data, Handler};
use crate::{guarded, text};

/// What C holds of a function that was added.
pub struct Added {
    handler: SynchronousHandler,
    is_there: &'static AtomicBool,
}

/// `struct silverpoint_made` of silverpoint/c/made.h.
#[repr(C)]
pub struct CMade {
    record: *const u8,
    record_size: usize,
    site: *const u8,
    site_size: usize,
    context: *const u8,
    context_size: usize,
    site_id: u32,
    tid: u32,
}

/// See logger.h.
///
/// # Safety
/// `category` and `record` end with a zero byte; `call` may be called as logger.h says, until it is removed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_add_synchronous_handler(
    category: *const c_char,
    record: *const c_char,
    call: Option<Call>,
    data: *mut c_void,
) -> *mut Added {
    // SAFETY: as the caller promises.
    let (category, record) = unsafe { (text::given(category), text::given(record)) };
    let mut added = std::ptr::null_mut();
    guarded(|| {
        let (Some(Ok(category)), Some(Ok(record)), Some(call)) = (category, record, call) else {
            return crate::INVALID;
        };
        let data = Data(data);
        let give = move |event: &silverpoint_logger::Event<'_>| handler::give(call, data, event);
        let Ok(handler) = SynchronousHandler::add(&category, give) else { return crate::INVALID };
        let is_there: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(true)));
        handler::add(Handler { category, record, call, data, synchronous: Some(is_there) });
        added = Box::into_raw(Box::new(Added { handler, is_there }));
        crate::DONE
    });
    added
}

/// See logger.h.
///
/// # Safety
/// `added` is null, or came from [`silverpoint_add_synchronous_handler`], and is given here once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_remove_synchronous_handler(added: *mut Added) {
    if added.is_null() {
        return;
    }
    // SAFETY: as the caller promises.
    let added = unsafe { Box::from_raw(added) };
    guarded(|| {
        added.is_there.store(false, Ordering::Relaxed);
        drop(added.handler);
        crate::DONE
    });
}

/// See made.h.
#[unsafe(no_mangle)]
pub extern "C" fn silverpoint_synchronous_handlers() -> *const u32 {
    let count: &'static AtomicU32 = silverpoint_logger::synchronous_handlers();
    count.as_ptr()
}

/// See made.h.
///
/// # Safety
/// `made` and all that it points to live, and are not changed, until the return.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_hand_over(made: *const CMade) {
    // SAFETY: as the caller promises.
    let Some(made) = (unsafe { made.as_ref() }) else { return };
    let bytes = |data: *const u8, size: usize| match data.is_null() {
        true => &[][..],
        // SAFETY: as the caller promises.
        false => unsafe { std::slice::from_raw_parts(data, size) },
    };
    let site = bytes(made.site, made.site_size);
    guarded(|| {
        silverpoint_logger::give_synchronously(&Made {
            record: bytes(made.record, made.record_size),
            site: made.site_id,
            describe: &|out| out.extend_from_slice(site),
            context: bytes(made.context, made.context_size),
            tid: made.tid,
            duration_ns: None,
        });
        crate::DONE
    });
}
