//! Debug output of the system's own: there is none.

use silverpoint_read::Targets;

use crate::exit::Failed;
use crate::live::Following;

/// Nothing is to be chosen.
#[derive(clap::Args, Debug)]
pub struct Choice {}

/// There are none.
pub enum Messages {}

impl Choice {
    /// None come.
    pub fn begin(&self) -> Result<Option<Messages>, Failed> {
        Ok(None)
    }
}

impl Messages {
    /// Of none.
    pub fn may_come(&self, _: &Targets) -> bool {
        match *self {}
    }

    /// Of none.
    pub fn follow(&mut self, _: &mut Following) -> Result<(), Failed> {
        match *self {}
    }

    /// Of none.
    pub fn look(&mut self, _: &mut Following) -> Result<(), Failed> {
        match *self {}
    }

    /// Of none.
    pub fn end(&mut self, _: &mut Following) -> Result<(), Failed> {
        match *self {}
    }
}
