use silverpoint::instrument;

#[instrument(levle = "debug")]
fn unknown() {}

#[instrument(level = "loud")]
fn no_level() {}

#[instrument(skip(b))]
fn no_argument(_a: u8) {}

#[instrument(ret, ret)]
fn twice() {}

#[instrument(err(Pretty))]
fn shown() -> Result<(), u8> {
    Ok(())
}

#[instrument(ret(Causes))]
fn causes() -> u8 {
    1
}

#[instrument]
const fn constant() {}

#[instrument]
struct NoFunction;

trait Declared {
    #[instrument]
    fn nothing_to_trace(&self);
}

fn main() {
    unknown();
}
