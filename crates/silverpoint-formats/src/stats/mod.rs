//! Statistics.

mod histogram;
