//! Spans by what they are within: how often they were, and how long. Spans of all threads of a process are one tree.

use std::collections::{HashMap, HashSet};

use silverpoint_query::spans::OpenSpans;
use silverpoint_trace::{Event, What};
use silverpoint_wire::level::Kind;

use crate::timeline::{NO_SITE, Timeline, TrackKind};

/// Nodes; what would be further ones counts for the span around it.
const NODES_MAX: usize = 20_000;
/// Spans within one another.
const DEPTH_MAX: usize = 64;
/// Spans that are open at once.
const OPEN_MAX: usize = 100_000;

/// A thread: number of its process, and its id.
type Thread = (usize, u32);

/// A span within others, or a process.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Number of the node around it; the root is its own.
    pub parent: u32,
    /// Number of the site; [`NO_SITE`]: the root, or a process.
    pub site: u32,
    /// Number of the process.
    pub process: usize,
    /// Spans of this node, and records directly within them.
    pub count: u64,
    /// How long the spans were within the range.
    pub time: u64,
    depth: usize,
}

/// See the module.
pub struct Flame {
    range: (i64, i64),
    nodes: Vec<Node>,
    children: HashMap<(u32, usize, u32), u32>,
    open: OpenSpans<u32, (u32, i64)>,
    /// Spans that had begun before the range, the outermost first, by thread: node, and site.
    begun: HashMap<Thread, Vec<(u32, u32)>>,
    threads: HashSet<Thread>,
    left_out: u64,
}

impl Flame {
    /// Of a range of times.
    pub fn new(range: (i64, i64)) -> Self {
        let root = Node { parent: 0, site: NO_SITE, process: 0, count: 0, time: 0, depth: 0 };
        Self {
            range,
            nodes: vec![root],
            children: HashMap::new(),
            open: OpenSpans::default(),
            begun: HashMap::new(),
            threads: HashSet::new(),
            left_out: 0,
        }
    }

    /// The root first, each node behind the one around it.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Spans that there was no room for.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The spans that had begun before the range.
    pub fn seed(&mut self, timeline: &Timeline) {
        for (track, number) in timeline.tracks().iter().zip(0..) {
            if track.kind != TrackKind::Thread {
                continue;
            }
            let thread = (track.session, track.tid);
            let open = timeline.open(number);
            let depths = 0..timeline.depth_of(number, &open).min(DEPTH_MAX);
            let sites = depths.map_while(|depth| timeline.covering(number, depth, &open, self.range.0));
            for site in sites.map(|entry| entry.site).collect::<Vec<_>>() {
                let parent = self.around(thread);
                let node = self.child(parent, track.session, site);
                if node == parent {
                    break;
                }
                self.nodes[node as usize].count += 1;
                self.begun.entry(thread).or_default().push((node, site));
            }
        }
    }

    /// Adds a record of the range.
    pub fn add(&mut self, event: &Event<'_>) {
        let thread = (event.session_number, event.tid);
        match event.what {
            What::Record { site, site_number, .. } => {
                let parent = self.around(thread);
                let node = self.child(parent, thread.0, site_number as u32);
                self.nodes[node as usize].count += 1;
                if site.kind() == Kind::Span {
                    if self.open.count() < OPEN_MAX {
                        self.threads.insert(thread);
                        // The time of the span around it has that of one without a node.
                        let begin = if node == parent { i64::MAX } else { event.wall_ns };
                        self.open.begin(thread, site_number, event.ticks, (node, begin));
                    } else {
                        self.left_out += 1;
                    }
                }
            }
            What::SpanEnd { site_number: Some(number), begin_ticks, .. } => {
                if let Some((node, begin)) = self.open.end(thread, number, begin_ticks) {
                    self.spend(node, begin, event.wall_ns);
                } else if let Some(begun) = self.begun.get_mut(&thread)
                    && let Some(at) = begun.iter().rposition(|(_, site)| *site == number as u32)
                {
                    let (node, _) = begun.remove(at);
                    self.spend(node, self.range.0, event.wall_ns);
                }
            }
            What::Loss { .. } => self.open.lost(thread),
            _ => {}
        }
    }

    /// What is still open lasts to the end of the range, or of the trace.
    pub fn finish(&mut self, end: i64) {
        let open = std::mem::take(&mut self.open);
        for thread in std::mem::take(&mut self.threads) {
            for (node, begin) in open.of(thread) {
                self.spend(*node, *begin, end);
            }
        }
        for (node, _) in std::mem::take(&mut self.begun).into_values().flatten() {
            self.spend(node, self.range.0, end);
        }
    }

    fn spend(&mut self, node: u32, begin: i64, end: i64) {
        let (begin, end) = (begin.max(self.range.0), end.min(self.range.1));
        let time = u64::try_from(i128::from(end) - i128::from(begin)).unwrap_or(0);
        let node = &mut self.nodes[node as usize];
        node.time = node.time.saturating_add(time);
    }

    /// What the next record of a thread is within.
    fn around(&mut self, thread: Thread) -> u32 {
        let begun = || self.begun.get(&thread).and_then(|begun| begun.last()).map(|(node, _)| *node);
        match self.open.innermost(thread).map(|(node, _)| *node).or_else(begun) {
            Some(node) => node,
            None => self.child(0, thread.0, NO_SITE),
        }
    }

    /// The node of a site within another one.
    fn child(&mut self, parent: u32, process: usize, site: u32) -> u32 {
        if let Some(node) = self.children.get(&(parent, process, site)) {
            return *node;
        }
        let depth = self.nodes[parent as usize].depth + 1;
        if self.nodes.len() >= NODES_MAX || depth > DEPTH_MAX {
            self.left_out += 1;
            return parent;
        }
        let node = self.nodes.len() as u32;
        self.nodes.push(Node { parent, site, process, count: 0, time: 0, depth });
        self.children.insert((parent, process, site), node);
        node
    }
}
