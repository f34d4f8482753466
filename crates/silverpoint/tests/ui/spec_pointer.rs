use silverpoint::info;

fn main() {
    info!("{:p}", 1u8);
}
