//! The collector against producers that are built here from the contract's bytes alone: honest, dying and hostile ones.

mod attach;
mod backtrace;
mod clocks;
mod fake;
mod files;
mod growth;
mod hostile;
mod life;
mod live;
mod recover;
mod refusal;
mod roles;
mod scratch;
mod spine;
mod store;
mod takeover;
mod told;
