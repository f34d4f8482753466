//! Templates of the `%` grammar: what the printf of glibc writes for the same arguments.

mod glibc;

use silverpoint_render::Renderer;
use silverpoint_trace::Site;
use silverpoint_wire::layout::site::PERCENT;
use silverpoint_wire::level::Level;

use crate::builder::{log, text};
use Arg::{Double, Int, Long, Pointer, Text};
use glibc::TABLE;

#[derive(Clone, Copy, Debug)]
enum Arg {
    Int(i32),
    Long(i64),
    Double(f64),
    Text(&'static str),
    Pointer(u64),
}

fn render(template: &str, args: &[Arg]) -> String {
    let mut bytes = Vec::new();
    let mut signature = String::new();
    for arg in args {
        signature.push(match arg {
            Int(_) => 'i',
            Long(_) => 'l',
            Double(_) => 'd',
            Text(_) => 's',
            Pointer(_) => 'p',
        });
        match arg {
            Int(value) => bytes.extend_from_slice(&value.to_le_bytes()),
            Long(value) => bytes.extend_from_slice(&value.to_le_bytes()),
            Double(value) => bytes.extend_from_slice(&value.to_le_bytes()),
            Text(value) => bytes.extend_from_slice(&text(value)),
            Pointer(value) => bytes.extend_from_slice(&value.to_le_bytes()),
        }
    }
    let mut description = log(Level::Info, "", 1, template, &signature);
    description.flags = PERCENT;
    let mut out = String::new();
    let _ = Renderer::new().message(&mut out, &Site::new(description), &bytes);
    out
}

#[test]
fn as_printf_writes_it() {
    let mut wrong = Vec::new();
    for (template, args, expected) in TABLE {
        let got = render(template, args);
        if got != *expected {
            wrong.push(format!("{template} {args:?}: {got:?} instead of {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), TABLE.len(), wrong.join("\n"));
}

#[test]
fn what_does_not_fit_is_shown_all_the_same() {
    assert_eq!(render("%d", &[Text("a b")]), "\"a b\"");
    assert_eq!(render("%d %s", &[Int(1)]), "1 <no argument>");
    assert_eq!(render("%d", &[Int(1), Double(2.5)]), "1 2.5");
    assert_eq!(render("%q", &[Int(1)]), "%q 1");
    assert_eq!(render("%s", &[Text("a\nb")]), "a\\nb");
    assert_eq!(render("%*d", &[Int(i32::MAX), Int(1)]).len(), 1000);
    assert_eq!(render("%.*f", &[Int(i32::MAX), Double(0.5)]).len(), 1002);
}
