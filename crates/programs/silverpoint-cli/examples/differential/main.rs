//! Records many values by many templates, in the order of `cases.rs`: the tests compare their text with that of {fmt}.

use silverpoint::info;

/// Every value by every template, each template in a function of its own: the compiler takes longer for one large function.
macro_rules! each {
    ([$kind:ty] [$($value:expr),*] $($template:literal)*) => {{
        const VALUES: &[$kind] = &[$($value),*];
        $({
            fn one() {
                for value in VALUES {
                    info!($template, *value);
                }
            }
            one();
        })*
    }};
}

include!("cases.rs");

fn main() {
    record();
}
