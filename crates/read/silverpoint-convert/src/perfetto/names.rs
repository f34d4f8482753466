//! Texts that are written once and named by a number afterwards. What is new waits for the packet that needs it first.

use std::collections::HashMap;

use silverpoint_trace::Site;

use super::proto::Proto;

/// Fields of `InternedData`.
const CATEGORIES: u32 = 1;
const EVENTS: u32 = 2;
const ANNOTATIONS: u32 = 3;
const LOCATIONS: u32 = 4;
const TEXTS: u32 = 29;
/// Slots for the names that came last.
const RECENT: usize = 64;

/// See the module. Memory is that of the different texts.
#[derive(Debug, Default)]
pub(crate) struct Names {
    new: Proto,
    categories: HashMap<String, u64>,
    events: HashMap<String, u64>,
    annotations: HashMap<String, u64>,
    /// Of the annotations one for each slot, the last: most names come again soon.
    recent: Vec<(String, u64)>,
    texts: HashMap<String, u64>,
    sites: HashMap<usize, SiteNames>,
}

/// The numbers of what a site says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SiteNames {
    pub(crate) name: u64,
    /// 0: it has none.
    pub(crate) category: u64,
    pub(crate) location: u64,
}

impl Names {
    /// What has come since the last packet: the content of its `InternedData`.
    pub(crate) fn new_ones(&self) -> &[u8] {
        &self.new.bytes
    }

    /// It has been written.
    pub(crate) fn written(&mut self) {
        self.new.bytes.clear();
    }

    pub(crate) fn category(&mut self, name: &str) -> u64 {
        number(&mut self.categories, &mut self.new, CATEGORIES, name)
    }

    pub(crate) fn event(&mut self, name: &str) -> u64 {
        number(&mut self.events, &mut self.new, EVENTS, name)
    }

    pub(crate) fn annotation(&mut self, name: &str) -> u64 {
        let (first, last) = (name.bytes().next().unwrap_or(0), name.bytes().last().unwrap_or(0));
        let slot = (name.len() + usize::from(first) + usize::from(last) * 5) % RECENT;
        if self.recent.is_empty() {
            self.recent.resize_with(RECENT, Default::default);
        }
        let recent = &mut self.recent[slot];
        // No name has the number 0.
        if recent.1 == 0 || recent.0 != name {
            recent.0.clear();
            recent.0.push_str(name);
            recent.1 = number(&mut self.annotations, &mut self.new, ANNOTATIONS, name);
        }
        recent.1
    }

    /// A value that comes again and again.
    pub(crate) fn text(&mut self, text: &str) -> u64 {
        number(&mut self.texts, &mut self.new, TEXTS, text)
    }

    pub(crate) fn site(&mut self, number: usize, site: &Site) -> SiteNames {
        if let Some(names) = self.sites.get(&number) {
            return *names;
        }
        let description = &site.description;
        let location = self.sites.len() as u64 + 1;
        let open = self.new.begin(LOCATIONS);
        self.new.number(1, location);
        self.new.bytes(2, description.file.as_bytes());
        self.new.bytes(3, site.function().as_bytes());
        self.new.number(4, description.line.into());
        self.new.end(open);
        let category = if description.category.is_empty() { 0 } else { self.category(&description.category) };
        let names = SiteNames { name: self.event(&description.template), category, location };
        self.sites.insert(number, names);
        names
    }
}

fn number(known: &mut HashMap<String, u64>, new: &mut Proto, field: u32, text: &str) -> u64 {
    if let Some(number) = known.get(text) {
        return *number;
    }
    let number = known.len() as u64 + 1;
    known.insert(text.to_owned(), number);
    let open = new.begin(field);
    new.number(1, number);
    new.bytes(2, text.as_bytes());
    new.end(open);
    number
}
