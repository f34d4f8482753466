//! What comes from the `log` crate through `tracing-log`.

use tracing_subscriber::prelude::*;
use tracing_subscriber::{EnvFilter, filter::FilterExt as _};

use crate::recorded;

#[test]
fn records_of_the_log_crate_keep_their_places() {
    let name = "log_records::records_of_the_log_crate_keep_their_places";
    let Some(session) = recorded(name, "info,quiet=error") else {
        tracing_log::LogTracer::init().unwrap();
        silverpoint_tracing::init();
        for number in 0..3 {
            log::info!("number {number}");
        }
        log::warn!(target: "quiet", "not heard");
        log::error!(target: "quiet", "heard");
        log::debug!("below");
        return;
    };
    assert_eq!(session.args_of("{}"), ["\"number 0\"", "\"number 1\"", "\"number 2\"", "\"heard\""]);
    let mut sites: Vec<_> = session
        .sites
        .values()
        .filter(|site| site.template == "{}")
        .map(|site| (site.category.clone(), site.level as u8, site.file.clone(), site.line > 0))
        .collect();
    sites.sort();
    let file = file!().to_owned();
    assert_eq!(
        sites,
        [("it::log_records".to_owned(), 2, file.clone(), true), ("quiet".to_owned(), 4, file, true)]
    );
}

/// That of the first line below: `tracing-log` asks once without it.
const SINGLE_LINE: u32 = 42;

fn log_lines() {
    for number in 0..2 {
        log::debug!("wanted {number}");
        log::debug!("other {number}");
        log::error!("error {number}");
    }
}

#[test]
fn a_single_line_of_the_log_crate_is_switched_on() {
    let name = "log_records::a_single_line_of_the_log_crate_is_switched_on";
    let Some(session) = recorded(name, &format!("off,log_records.rs:{SINGLE_LINE}=on")) else {
        tracing_log::LogTracer::init().unwrap();
        silverpoint_tracing::init();
        return log_lines();
    };
    assert_eq!(session.args_of("{}"), ["\"wanted 0\"", "\"wanted 1\""]);
}

#[test]
fn a_single_line_of_the_log_crate_is_switched_on_for_a_layer_too() {
    let name = "log_records::a_single_line_of_the_log_crate_is_switched_on_for_a_layer_too";
    let Some(session) = recorded(name, &format!("off,log_records.rs:{SINGLE_LINE}=on")) else {
        tracing_log::LogTracer::init().unwrap();
        tracing_subscriber::registry().with(silverpoint_tracing::layer()).init();
        return log_lines();
    };
    assert_eq!(session.args_of("{}"), ["\"wanted 0\"", "\"wanted 1\""]);
}

#[test]
fn an_env_filter_decides_about_records_of_the_log_crate_too() {
    let name = "log_records::an_env_filter_decides_about_records_of_the_log_crate_too";
    let Some(session) = recorded(name, "trace") else {
        tracing_log::LogTracer::init().unwrap();
        let filter = EnvFilter::new("error,net=debug").and(silverpoint_tracing::Filter);
        let layer = silverpoint_tracing::Layer::new().with_filter(filter);
        tracing_subscriber::registry().with(layer).init();
        log_lines();
        log::debug!(target: "net", "of the net");
        return log::trace!(target: "net", "too little");
    };
    assert_eq!(session.args_of("{}"), ["\"error 0\"", "\"error 1\"", "\"of the net\""]);
}
