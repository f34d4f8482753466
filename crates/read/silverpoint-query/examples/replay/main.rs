//! Records of a trace file handed to a function when they are due: a program's own simulation, driven by what was recorded.
//!
//! `cargo run -p silverpoint-query --example replay -- FILE [SPEED]`

use std::ops::ControlFlow;
use std::path::PathBuf;

use silverpoint_query::filter::Filter;
use silverpoint_query::replay::{RealTime, Schedule, replay};
use silverpoint_trace::{Trace, What};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let file = words.next().ok_or("give a trace file, and a speed if it is not 1")?;
    let speed = words.next().map_or(Ok(Default::default()), |speed| speed.parse())?;
    let trace = Trace::open(&[PathBuf::from(file)])?;
    let schedule = Schedule { speed, ..Schedule::default() };
    let played = replay(&trace, &Filter::default(), schedule, &mut RealTime::new(), |event, due| {
        // A program may do anything with a record: here its name and arguments are only counted.
        if let What::Record { site, args, .. } = event.what {
            let name = &site.description.template;
            println!("{:>10.3} ms  {name}: {} bytes of arguments", due.as_secs_f64() * 1e3, args.len());
        }
        ControlFlow::Continue(())
    });
    println!("{} records, {} of them late (at most {:?})", played.records, played.late, played.latest);
    Ok(())
}
