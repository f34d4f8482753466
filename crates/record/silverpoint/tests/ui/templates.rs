use silverpoint::{counter, event, info, scope};

fn main() {
    let x = 1;
    info!("{");
    info!("a } b");
    info!("{} {0}", x);
    info!("{} {}", x);
    info!("{}", x, x);
    info!("{x.y}");
    info!("{:z}", x);
    info!("{:.}", x);
    info!("{:1001}", x);
    info!("{}", a = x, x);
    info!(targt: "net", "x");
    info!(level: warn, "x");
    event!(level: loud, "x");
    let _scope = scope!("x");
    let _scope = scope!(level: debug, x);
    event!(x);
    counter!("c", x, x);
}
