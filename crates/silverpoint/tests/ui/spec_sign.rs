use silverpoint::info;

fn main() {
    info!("{:+}", "text");
}
