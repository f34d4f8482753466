use silverpoint::Trace;

#[derive(Trace)]
struct Node {
    name: String,
    children: Vec<Node>,
}

#[derive(Trace)]
enum Term {
    Number(f64),
    Sum(Box<Self>, Option<(u8, [Box<Term>; 2])>),
}

#[derive(Trace)]
#[trace(recursive)]
enum Side {
    Left,
    Right,
}

// What says nothing of what it points to needs no depth.
#[derive(Trace)]
struct Parent {
    up: std::sync::Weak<Parent>,
    address: *const Parent,
}

fn main() {}
