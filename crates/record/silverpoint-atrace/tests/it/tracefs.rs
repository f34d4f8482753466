//! The kernel's own buffer, where this machine lets the test mount it.

use crate::instance::Instance;
use crate::{Place, call_everything, check, is_role, messages};

#[test]
fn the_kernel_has_what_was_written() {
    let name = "tracefs::the_kernel_has_what_was_written";
    if is_role(name) {
        return call_everything();
    }
    let place = Place::new();
    let instance = match Instance::new(place.0.path()) {
        Ok(instance) => instance,
        Err(why) => {
            silverpoint_tests::skipped!("there is no tracefs: {why}");
            return;
        }
    };
    let mut command = place.command(name);
    command.env("SILVERPOINT_ATRACE_MARKER", instance.path.join("trace_marker"));
    let pid = check(&command.env("debug.atrace.tags.enableflags", "0x1000").output().unwrap());
    assert_eq!(instance.messages(), messages(pid));
}
