//! Records as a program's log and trace have them: eight sites in four threads, in turn, with arguments that change.

use silverpoint_convert::Record;
use silverpoint_trace::{Site, What};
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;

/// Arguments that a site has: a number, a float, a text, a truth value.
#[derive(Clone, Copy)]
enum Argument {
    Id,
    Small,
    Float,
    Text(&'static str),
    Bool,
}

use Argument::{Bool, Float, Id, Small, Text};

type Description = (Kind, Level, &'static str, &'static str, &'static str, &'static [Argument]);

/// Kind, level, template, signature, names, arguments.
const SITES: [Description; 8] = [
    (Kind::Log, Level::Info, "order {} at {:.2f}", "Ld", "", &[Id, Float]),
    (Kind::Log, Level::Debug, "request {} took {} us", "sl", "", &[Text("/v1/orders/latest?limit=20"), Id]),
    (Kind::Event, Level::Info, "login", "Lsb", "user\nname\nadmin\n", &[Id, Text("Ada Lovelace"), Bool]),
    (Kind::Counter, Level::Info, "queue", "l", "value\n", &[Id]),
    (Kind::Span, Level::Info, "parse", "Is", "line\nfile\n", &[Small, Text("inventory.txt")]),
    (Kind::Log, Level::Trace, "nothing to do", "", "", &[]),
    (
        Kind::Log,
        Level::Warn,
        "retry {} of {}: {}",
        "iis",
        "",
        &[Small, Small, Text("connection reset by peer")],
    ),
    (Kind::Event, Level::Info, "sample", "ddd", "x\ny\nz\n", &[Float, Float, Float]),
];

const THREADS: [&str; 4] = ["main", "worker-1", "worker-2", "net"];

/// Gives one after the other, without an end.
pub struct Made {
    sites: Vec<Site>,
    args: Vec<u8>,
    count: u64,
}

impl Made {
    /// From the first.
    pub fn new() -> Self {
        let site = |(at, description): (usize, &Description)| {
            let (kind, level, template, signature, names, _) = *description;
            Site::new(SiteDescription {
                kind,
                level,
                flags: 0,
                line: 88 + 13 * at as u32,
                language: 1,
                category: "shop::orders".into(),
                file: "/home/build/shop/src/orders/pump.cpp".into(),
                function: "void shop::orders::Pump::run(std::stop_token)".into(),
                names: names.into(),
                template: template.into(),
                signature: signature.into(),
            })
        };
        Self { sites: SITES.iter().enumerate().map(site).collect(), args: Vec::new(), count: 0 }
    }

    /// The next record.
    pub fn next(&mut self) -> Record<'_> {
        let at = self.count;
        self.count += 1;
        // Some disorder, the same each time.
        let mixed = at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let number = (mixed % 8) as usize;
        self.args.clear();
        for argument in SITES[number].5 {
            match argument {
                Id => self.args.extend_from_slice(&at.to_le_bytes()),
                Small => self.args.extend_from_slice(&((mixed % 1000) as u32).to_le_bytes()),
                Float => self.args.extend_from_slice(&((at % 100_000) as f64 * 0.37).to_le_bytes()),
                Bool => self.args.push((at % 2) as u8),
                Text(text) => {
                    self.args.extend_from_slice(&(text.len() as u32).to_le_bytes());
                    self.args.extend_from_slice(text.as_bytes());
                }
            }
        }
        self.args.resize(self.args.len().next_multiple_of(8), 0);
        let thread = (mixed >> 8) as usize % THREADS.len();
        let site = &self.sites[number];
        Record {
            wall_ns: 1_795_000_000_000_000_000 + at as i64 * 1037,
            ticks: None,
            process: "shop",
            pid: 4312,
            process_number: 0,
            tid: 4312 + thread as u32,
            thread: THREADS[thread],
            context: None,
            is_backtrace: false,
            what: What::Record { site, site_number: number, args: &self.args, truncated: false },
        }
    }
}
