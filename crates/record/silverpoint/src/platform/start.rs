//! Before `main` and after it. The session exists as soon as the program does, so that it can be switched on
//! from outside before it has recorded.

use silverpoint_shm::owner;
use silverpoint_wire::directive;

extern "C" fn start() {
    if !owner::start() {
        return;
    }
    // The copy that makes the session reports errors in its filter; a site uses the valid parts.
    let made_here = owner::session_name().is_some_and(|(_, copy)| copy == 1);
    if made_here {
        if let Ok(filter) = std::env::var("SILVERPOINT_FILTER") {
            for bad in directive::malformed(&filter) {
                if let Err(error) = directive::check(bad) {
                    eprintln!("silverpoint: SILVERPOINT_FILTER: '{bad}' is ignored: {error}");
                }
            }
        }
    }
}

extern "C" fn unload() {
    // SAFETY: the destructor of the executable or the shared object that has the highest priority, and so the last.
    unsafe { owner::unload() };
}

#[cfg(not(miri))]
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

// After `main`, its exit handlers and the destructors of statics in other languages, which have lower priority; at dlclose of a library.
#[cfg(not(miri))]
#[used]
#[unsafe(link_section = ".fini_array.00101")]
static UNLOAD: extern "C" fn() = unload;
