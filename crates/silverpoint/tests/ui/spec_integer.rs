use silverpoint::info;

fn main() {
    info!("{:x}", 1.5f64);
}
