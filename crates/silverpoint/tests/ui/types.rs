use silverpoint::info;

struct Untraced;

fn main() {
    info!("{}", Untraced);
}
