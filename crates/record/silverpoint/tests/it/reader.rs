//! What a process recorded, read back by the collector's view and the contract's code: nothing of the producer's.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::Path;

use silverpoint_shm::observer::{self, Counters, ObservedSession, SessionName, Slice};
use silverpoint_shm::root::Root;
use silverpoint_wire::layout::record as control;
use silverpoint_wire::record::{self, Records};
use silverpoint_wire::signature::{self, Type};
use silverpoint_wire::site::SiteDescription;
use silverpoint_wire::slice::RingHeader;
use silverpoint_wire::value::{self, Sequence, Text, Visitor};

/// Everything in one session.
pub struct Session {
    pub name: String,
    pub pid: u32,
    pub counters: Counters,
    pub sites: HashMap<u32, SiteDescription>,
    pub streams: BTreeMap<u32, Stream>,
    pub alive: bool,
}

pub struct Stream {
    pub header: RingHeader,
    pub records: Vec<Record>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub site: u32,
    pub ticks: u64,
    pub truncated: bool,
    /// Template or name of the site; of control records `loss`, `stall`, `end`.
    pub what: String,
    pub args: String,
    /// All of it, as it stood in the ring.
    pub bytes: Vec<u8>,
}

impl Session {
    /// All records of all streams by time.
    pub fn records(&self) -> Vec<Record> {
        let mut all: Vec<_> =
            self.streams.values().flat_map(|stream| stream.records.iter().cloned()).collect();
        all.sort_by_key(|record| record.ticks);
        all
    }

    /// Arguments of all records of a site with this template or name, by time.
    pub fn args_of(&self, what: &str) -> Vec<String> {
        self.records().into_iter().filter(|record| record.what == what).map(|record| record.args).collect()
    }

    pub fn site(&self, what: &str) -> &SiteDescription {
        self.sites.values().find(|site| site.template == what).unwrap_or_else(|| panic!("no site `{what}`"))
    }

    /// By cause: of all streams and of the session.
    pub fn losses(&self) -> [u64; 8] {
        let mut sum = self.counters.session_losses;
        for stream in self.streams.values() {
            (0..8).for_each(|cause| sum[cause] += stream.header.losses[cause]);
        }
        sum
    }
}

/// All sessions of a root, by name.
pub fn sessions(root: &Path) -> Vec<Session> {
    let root = Root::open_directory(root).expect("the root is there");
    let mut names = observer::list(&root).expect("the root can be listed");
    names.sort();
    names.into_iter().map(|name| session(&root, name)).collect()
}

/// The only session of a root.
pub fn only_session(root: &Path) -> Session {
    let mut all = sessions(root);
    assert_eq!(all.len(), 1, "sessions: {:?}", all.iter().map(|s| &s.name).collect::<Vec<_>>());
    all.remove(0)
}

fn session(root: &Root, name: SessionName) -> Session {
    let observed = ObservedSession::open(root, name).expect("a whole session");
    let mut drain = Drain::default();
    drain.pass(&observed, false);
    drain.finish(&observed)
}

/// What a collector has taken from a session so far.
#[derive(Default)]
pub struct Drain {
    streams: BTreeMap<u32, (RingHeader, Vec<u8>)>,
    beats: u64,
}

impl Drain {
    /// Copies what is there; with `release` also gives it free, as a collector does.
    pub fn pass(&mut self, session: &ObservedSession, release: bool) -> usize {
        let counters = session.counters().unwrap();
        let mut slices: Vec<Slice> = Vec::new();
        session.slices(counters.slabs_next, &mut slices, |fault| panic!("{fault}")).unwrap();
        let mut taken = 0;
        for slice in slices {
            let Some(header) = session.ring(slice).unwrap() else { continue };
            let (from, to) = header.valid_range(slice.size as usize).expect("a sound ring");
            let mut bytes = vec![0; (to - from) as usize];
            session.read_data(slice, &header, from, &mut bytes).unwrap();
            let Some(oldest) = session.revalidate(slice, &header).unwrap() else { continue };
            let skip = oldest.saturating_sub(from).min(to - from) as usize;
            taken += bytes.len();
            let stream = self.streams.entry(header.stream).or_insert_with(|| (header, Vec::new()));
            stream.0 = header;
            stream.1.extend_from_slice(&bytes[skip..]);
            if release {
                if to > header.consumed {
                    session.set_consumed(slice, to).unwrap();
                    session.wake(slice).unwrap();
                }
                session.set_told(slice, header.losses.iter().sum()).unwrap();
            }
        }
        if release {
            self.beats += 1;
            session.set_heartbeat(self.beats).unwrap();
        }
        taken
    }

    /// Gives the records so far, as they are, and forgets them: where there are too many for their texts. (What a pass has taken are whole records.)
    pub fn take(&mut self, mut each: impl FnMut(&RingHeader, record::Record<'_>)) {
        for (header, bytes) in self.streams.values_mut() {
            // With their memory: a thread that fills many rings has as many streams.
            Records::new(&std::mem::take(bytes))
                .without_pads()
                .for_each(|record| each(header, record.expect("sound records")));
        }
    }

    /// Decodes everything.
    pub fn finish(self, session: &ObservedSession) -> Session {
        let counters = session.counters().unwrap();
        let mut sites = HashMap::new();
        session
            .sites_since(
                0,
                counters.sites_next,
                |_| true,
                |site| {
                    let bytes = site.description.expect("a whole description");
                    sites.insert(
                        site.entry + 16,
                        SiteDescription::decode(bytes).expect("a sound description").0,
                    );
                },
            )
            .unwrap();
        let types: HashMap<u32, Vec<Type>> = sites
            .iter()
            .map(|(id, site)| {
                let types = signature::parse(&site.signature);
                (*id, types.unwrap_or_else(|error| panic!("{}: {error}", site.signature)))
            })
            .collect();
        let streams = self.streams.into_iter().map(|(number, (header, bytes))| {
            let records = Records::new(&bytes).without_pads().map(|record| {
                let record = record.expect("sound records");
                let (what, args) = decode(&record.header.site, record.args, &sites, &types);
                let truncated = record.header.is_truncated();
                let whole = bytes[record.offset..][..record.header.size as usize].to_vec();
                let (site, ticks) = (record.header.site, record.header.ticks);
                Record { site, ticks, truncated, what, args, bytes: whole }
            });
            (number, Stream { header, records: records.collect() })
        });
        Session {
            name: session.name().to_string(),
            pid: session.header().pid,
            counters,
            streams: streams.collect(),
            sites,
            alive: session.is_alive().unwrap(),
        }
    }
}

fn decode(
    id: &u32,
    args: &[u8],
    sites: &HashMap<u32, SiteDescription>,
    types: &HashMap<u32, Vec<Type>>,
) -> (String, String) {
    let known;
    let (what, types) = match *id {
        control::LOSS => ("loss".to_owned(), {
            known = signature::parse("ALLL").unwrap();
            &known
        }),
        control::STALL => ("stall".to_owned(), {
            known = signature::parse("AL").unwrap();
            &known
        }),
        control::SPAN_END => ("end".to_owned(), {
            known = signature::parse("IL").unwrap();
            &known
        }),
        control::CONTEXT => ("context".to_owned(), {
            known = signature::parse("v").unwrap();
            &known
        }),
        _ => (sites[id].template.clone(), &types[id]),
    };
    let mut text = Plain::default();
    let mut at = 0;
    for kind in types {
        text.separate();
        at = value::walk(kind, args, at, &mut text).expect("sound arguments");
    }
    assert!(
        args[at..].iter().all(|byte| *byte == 0) && args.len() - at < 8,
        "the tail is zero: {:?}",
        &args[at..]
    );
    (what, text.out)
}

/// Values as plain text: `1, "a", [1, 2], {"k": 1}, P{x: 1}, ?none`.
#[derive(Default)]
struct Plain {
    out: String,
    ends: Vec<&'static str>,
    fresh: bool,
}

impl Plain {
    fn separate(&mut self) {
        if !self.out.is_empty() && !self.fresh {
            self.out.push_str(", ");
        }
        self.fresh = true;
    }
    fn put(&mut self, value: impl std::fmt::Display) -> Result<(), ()> {
        if !self.fresh {
            self.separate();
        }
        write!(self.out, "{value}").unwrap();
        self.fresh = false;
        Ok(())
    }
    fn begin(&mut self, open: &str, close: &'static str) -> Result<(), ()> {
        self.put(open)?;
        self.ends.push(close);
        self.fresh = true;
        Ok(())
    }
}

impl Visitor for Plain {
    type Error = ();
    fn null(&mut self) -> Result<(), ()> {
        self.put("null")
    }
    fn bool(&mut self, value: bool) -> Result<(), ()> {
        self.put(value)
    }
    fn i64(&mut self, value: i64) -> Result<(), ()> {
        self.put(value)
    }
    fn u64(&mut self, value: u64) -> Result<(), ()> {
        self.put(value)
    }
    fn i128(&mut self, value: i128) -> Result<(), ()> {
        self.put(value)
    }
    fn u128(&mut self, value: u128) -> Result<(), ()> {
        self.put(value)
    }
    fn f32(&mut self, value: f32) -> Result<(), ()> {
        self.put(format_args!("{value}f"))
    }
    fn f64(&mut self, value: f64) -> Result<(), ()> {
        self.put(value)
    }
    fn char(&mut self, value: char) -> Result<(), ()> {
        self.put(format_args!("{value:?}"))
    }
    fn pointer(&mut self, value: u64) -> Result<(), ()> {
        self.put(format_args!("@{value:x}"))
    }
    fn text(&mut self, text: Text<'_>, missing: u32) -> Result<(), ()> {
        let text: String = text.chars().collect();
        // Long ones by their length: nobody compares them letter by letter.
        let shown = if text.len() > 100 { format!("<{}>", text.len()) } else { format!("{text:?}") };
        if missing == 0 { self.put(shown) } else { self.put(format_args!("{shown}+{missing}")) }
    }
    fn bytes(&mut self, bytes: &[u8], missing: u32) -> Result<(), ()> {
        self.put(format_args!("bytes{bytes:?}+{missing}"))
    }
    fn uuid(&mut self, uuid: [u8; 16]) -> Result<(), ()> {
        self.put(format_args!("uuid {:032x}", u128::from_be_bytes(uuid)))
    }
    fn time(&mut self, unix_ns: i64) -> Result<(), ()> {
        self.put(format_args!("t{unix_ns}"))
    }
    fn duration(&mut self, ns: i64) -> Result<(), ()> {
        self.put(format_args!("{ns}ns"))
    }
    fn any(&mut self, cbor: &[u8]) -> Result<(), ()> {
        self.put(format_args!("{}", crate::cbor::text(cbor)))
    }
    fn none(&mut self) -> Result<(), ()> {
        self.put("none")
    }
    fn begin_sequence(&mut self, kind: Sequence, len: u32, missing: u32) -> Result<(), ()> {
        let open = match kind {
            Sequence::List if missing > 0 => format!("[<{len}+{missing}> "),
            Sequence::List => "[".to_owned(),
            Sequence::Set => "{".to_owned(),
            Sequence::Tuple => "(".to_owned(),
        };
        self.begin(
            &open,
            match kind {
                Sequence::List => "]",
                Sequence::Set => "}",
                Sequence::Tuple => ")",
            },
        )
    }
    fn begin_map(&mut self, _: u32) -> Result<(), ()> {
        self.begin("map{", "}")
    }
    fn begin_record(&mut self, name: &str, _: usize) -> Result<(), ()> {
        self.begin(&format!("{name}{{"), "}")
    }
    fn field(&mut self, name: &str) -> Result<(), ()> {
        self.put(format_args!("{name}: "))?;
        self.fresh = true;
        Ok(())
    }
    fn end(&mut self) -> Result<(), ()> {
        self.out.push_str(self.ends.pop().unwrap());
        self.fresh = false;
        Ok(())
    }
    fn enumeration(&mut self, name: &str, label: Option<&str>, value: i64) -> Result<(), ()> {
        self.put(format_args!("{name}::{}={value}", label.unwrap_or("?")))
    }
    fn variant(&mut self, index: u8) -> Result<(), ()> {
        self.put(format_args!("#{index} "))?;
        self.fresh = true;
        Ok(())
    }
}
