use silverpoint::info;

fn main() {
    info!("{:e}", 1u8);
}
