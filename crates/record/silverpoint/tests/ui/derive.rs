use silverpoint::Trace;

#[derive(Trace)]
enum Never {}

#[derive(Trace)]
union Either {
    a: u8,
    b: u16,
}

#[derive(Trace)]
struct Field {
    #[trace(unknown)]
    a: u8,
}

fn main() {}
