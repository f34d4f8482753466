//! What comes from the `log` crate through `tracing-log`.

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
