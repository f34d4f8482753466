use silverpoint::info;

fn main() {
    info!("{:.2}", 1u8);
}
