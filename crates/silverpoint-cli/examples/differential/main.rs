//! Records many values by many templates, in the order of `cases.rs`: the tests compare their text with that of {fmt}.

use silverpoint::info;

/// Every value by every template.
macro_rules! each {
    ([$kind:ty] [$($value:expr),*] $($template:literal)*) => {{
        const VALUES: &[$kind] = &[$($value),*];
        $(
            for value in VALUES {
                info!($template, *value);
            }
        )*
    }};
}

include!("cases.rs");

fn main() {
    record();
}
