//! What this process takes of the machine, under the names that every program uses. Where the system
//! does not tell, there is no figure.

use std::fmt;
use std::fs;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use rustix::param::clock_ticks_per_second;
use tidegate_core::{Metric, MetricKind};

use super::sample::{Sample, write};

const BUILD: Metric = gauge(
    "tidegate_build_info",
    &["version"],
    "Always 1; the version is in its label",
);
const TASKS: Metric = gauge(
    "tidegate_tasks",
    &[],
    "Things that go on at once inside the gateway. A number that only grows is a leak",
);
const CPU: Metric = Metric {
    name: "process_cpu_seconds_total",
    kind: MetricKind::Counter,
    labels: &[],
    meaning: "Seconds of CPU time, of the user and of the system together",
};
const RESIDENT: Metric = gauge(
    "process_resident_memory_bytes",
    &[],
    "Bytes of memory in use",
);
const VIRTUAL: Metric = gauge(
    "process_virtual_memory_bytes",
    &[],
    "Bytes of address space",
);
const OPEN_FILES: Metric = gauge(
    "process_open_fds",
    &[],
    "Files and connections that are open",
);
const MOST_FILES: Metric = gauge("process_max_fds", &[], "How many may be open");
const THREADS: Metric = gauge("process_threads", &[], "Threads of the operating system");
const STARTED: Metric = gauge(
    "process_start_time_seconds",
    &[],
    "When the process started, in seconds since 1970",
);

pub(super) const METRICS: &[Metric] = &[
    BUILD, TASKS, CPU, RESIDENT, VIRTUAL, OPEN_FILES, MOST_FILES, THREADS, STARTED,
];

const fn gauge(
    name: &'static str,
    labels: &'static [&'static str],
    meaning: &'static str,
) -> Metric {
    Metric {
        name,
        kind: MetricKind::Gauge,
        labels,
        meaning,
    }
}

/// This process.
#[derive(Debug)]
pub(super) struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let version = env!("CARGO_PKG_VERSION");
        write(&mut encoder, &BUILD, &[(vec![("version", version)], 1.0)])?;
        let status = read("status");
        let stat = read("stat");
        let ticks = ticks(&stat);
        let plain = [
            (&TASKS, tasks()),
            (&CPU, ticks.map(|ticks| ticks.used)),
            (&RESIDENT, kilobytes(&status, "VmRSS:")),
            (&VIRTUAL, kilobytes(&status, "VmSize:")),
            (&OPEN_FILES, open_files()),
            (&MOST_FILES, most_files(&read("limits"))),
            (&THREADS, field(&status, "Threads:")),
            (
                &STARTED,
                ticks.and_then(|ticks| Some(booted()? + ticks.started)),
            ),
        ];
        for (figure, value) in plain {
            let sample = value.map(|value| -> Sample<'_> { (Vec::new(), value) });
            write(&mut encoder, figure, sample.as_slice())?;
        }
        Ok(())
    }
}

/// A file about this process; empty where there is none.
fn read(name: &str) -> String {
    fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default()
}

fn tasks() -> Option<f64> {
    let runtime = tokio::runtime::Handle::try_current().ok()?;
    u32::try_from(runtime.metrics().num_alive_tasks())
        .ok()
        .map(f64::from)
}

/// The first number of the line that begins so.
fn field(status: &str, name: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

fn kilobytes(status: &str, name: &str) -> Option<f64> {
    Some(field(status, name)? * 1024.0)
}

/// Times in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ticks {
    used: f64,
    /// After the machine did.
    started: f64,
}

/// The name of the program comes second and may hold anything, so it is counted from its end.
fn ticks(stat: &str) -> Option<Ticks> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let fields: Vec<_> = after_name.split_whitespace().collect();
    let a_second = f64::from(u32::try_from(clock_ticks_per_second()).ok()?);
    let seconds = |at: usize| Some(fields.get(at)?.parse::<f64>().ok()? / a_second);
    Some(Ticks {
        used: seconds(11)? + seconds(12)?,
        started: seconds(19)?,
    })
}

/// When the machine started.
fn booted() -> Option<f64> {
    field(&fs::read_to_string("/proc/stat").ok()?, "btime ")
}

fn open_files() -> Option<f64> {
    // One of them is open to look at the others.
    let files = fs::read_dir("/proc/self/fd").ok()?.count().checked_sub(1)?;
    u32::try_from(files).ok().map(f64::from)
}

fn most_files(limits: &str) -> Option<f64> {
    field(limits, "Max open files")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_moves_no_field() {
        let after = "S 1 2 3 4 5 6 7 8 9 10 200 100 0 0 20 0 9 0 5000 1";
        let ticks_of = |name: &str| ticks(&format!("77 ({name}) {after}"));
        let plain = ticks_of("tidegate").unwrap();
        assert_eq!(ticks_of("a) b (c"), Some(plain));
        assert!((plain.used / plain.started - 300.0 / 5000.0).abs() < 1e-9);
        assert_eq!(ticks("nothing"), None);
    }

    #[test]
    fn what_is_not_told_is_no_figure() {
        assert_eq!(
            kilobytes("VmRSS:\t  12 kB\n", "VmRSS:"),
            Some(12.0 * 1024.0)
        );
        assert_eq!(kilobytes("", "VmRSS:"), None);
        assert_eq!(
            most_files("Max open files            unlimited  unlimited files"),
            None
        );
        assert_eq!(
            most_files("Max open files            1024   4096   files"),
            Some(1024.0)
        );
    }
}
