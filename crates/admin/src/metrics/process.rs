//! Resource usage of this process, under the standard Prometheus names. Read from `/proc`; metrics
//! that the system does not provide are left out.

use std::fmt;
use std::fs;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use rustix::param::clock_ticks_per_second;
use tidegate_core::{Metric, MetricKind};

use super::sample::{Sample, encode_metric};

const BUILD_INFO: Metric = gauge(
    "tidegate_build_info",
    &["version"],
    "Always 1; the label has the version",
);
const TASKS: Metric = gauge(
    "tidegate_tokio_tasks",
    &[],
    "Tasks of the Tokio runtime that are alive. A number that keeps growing is a leak",
);
const CPU: Metric = Metric {
    name: "process_cpu_seconds_total",
    kind: MetricKind::Counter,
    labels: &[],
    meaning: "User and system CPU time in seconds",
};
const RESIDENT_MEMORY: Metric = gauge(
    "process_resident_memory_bytes",
    &[],
    "Resident memory in bytes",
);
const VIRTUAL_MEMORY: Metric = gauge(
    "process_virtual_memory_bytes",
    &[],
    "Virtual memory in bytes",
);
const OPEN_FILES: Metric = gauge(
    "process_open_fds",
    &[],
    "Open file descriptors, including connections",
);
const MAX_FILES: Metric = gauge("process_max_fds", &[], "Limit of open file descriptors");
const THREADS: Metric = gauge("process_threads", &[], "Operating system threads");
const START_TIME: Metric = gauge(
    "process_start_time_seconds",
    &[],
    "Start time of the process, in seconds since the Unix epoch",
);

pub(super) const METRICS: &[Metric] = &[
    BUILD_INFO,
    TASKS,
    CPU,
    RESIDENT_MEMORY,
    VIRTUAL_MEMORY,
    OPEN_FILES,
    MAX_FILES,
    THREADS,
    START_TIME,
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
pub(super) struct ProcessCollector;

impl Collector for ProcessCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let version = env!("CARGO_PKG_VERSION");
        encode_metric(
            &mut encoder,
            &BUILD_INFO,
            &[(vec![("version", version)], 1.0)],
        )?;
        let status = read_proc("status");
        let times = process_times(&read_proc("stat"));
        let values = [
            (&TASKS, tasks()),
            (&CPU, times.map(|times| times.cpu)),
            (&RESIDENT_MEMORY, kilobytes(&status, "VmRSS:")),
            (&VIRTUAL_MEMORY, kilobytes(&status, "VmSize:")),
            (&OPEN_FILES, open_files()),
            (&MAX_FILES, max_files(&read_proc("limits"))),
            (&THREADS, field(&status, "Threads:")),
            (
                &START_TIME,
                times.and_then(|times| Some(boot_time()? + times.started)),
            ),
        ];
        for (metric, value) in values {
            let sample = value.map(|value| -> Sample<'_> { (Vec::new(), value) });
            encode_metric(&mut encoder, metric, sample.as_slice())?;
        }
        Ok(())
    }
}

/// The content of a file in `/proc/self`; empty if it does not exist.
fn read_proc(name: &str) -> String {
    fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default()
}

fn tasks() -> Option<f64> {
    let runtime = tokio::runtime::Handle::try_current().ok()?;
    u32::try_from(runtime.metrics().num_alive_tasks())
        .ok()
        .map(f64::from)
}

/// The first number on the line with this prefix.
fn field(status: &str, name: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

fn kilobytes(status: &str, name: &str) -> Option<f64> {
    Some(field(status, name)? * 1024.0)
}

/// Times in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ProcessTimes {
    cpu: f64,
    /// Since the system was booted.
    started: f64,
}

/// Parses `/proc/self/stat`. The second field is the program name in brackets and may contain spaces
/// and brackets, so the others are counted from its end.
fn process_times(stat: &str) -> Option<ProcessTimes> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let fields: Vec<_> = after_name.split_whitespace().collect();
    let ticks_per_second = f64::from(u32::try_from(clock_ticks_per_second()).ok()?);
    let seconds = |index: usize| Some(fields.get(index)?.parse::<f64>().ok()? / ticks_per_second);
    Some(ProcessTimes {
        cpu: seconds(11)? + seconds(12)?,
        started: seconds(19)?,
    })
}

/// When the system was booted, in seconds since the Unix epoch.
fn boot_time() -> Option<f64> {
    field(&fs::read_to_string("/proc/stat").ok()?, "btime ")
}

fn open_files() -> Option<f64> {
    // Without the descriptor of the directory itself.
    let files = fs::read_dir("/proc/self/fd").ok()?.count().checked_sub(1)?;
    u32::try_from(files).ok().map(f64::from)
}

fn max_files(limits: &str) -> Option<f64> {
    field(limits, "Max open files")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_a_program_name_with_brackets() {
        let after = "S 1 2 3 4 5 6 7 8 9 10 200 100 0 0 20 0 9 0 5000 1";
        let times_of = |name: &str| process_times(&format!("77 ({name}) {after}"));
        let plain = times_of("tidegate").unwrap();
        assert_eq!(times_of("a) b (c"), Some(plain));
        assert!((plain.cpu / plain.started - 300.0 / 5000.0).abs() < 1e-9);
        assert_eq!(process_times("nothing"), None);
    }

    #[test]
    fn a_missing_or_unlimited_value_is_none() {
        assert_eq!(
            kilobytes("VmRSS:\t  12 kB\n", "VmRSS:"),
            Some(12.0 * 1024.0)
        );
        assert_eq!(kilobytes("", "VmRSS:"), None);
        assert_eq!(
            max_files("Max open files            unlimited  unlimited files"),
            None
        );
        assert_eq!(
            max_files("Max open files            1024   4096   files"),
            Some(1024.0)
        );
    }
}
