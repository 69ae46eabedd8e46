//! The measurements and the table that shows them.
//!
//! Must not know: how they are taken.

use std::fmt;
use std::time::Duration;

use crate::cell::Cell;
use crate::load::LoadResult;

pub(crate) const TABLE_HEADER: &str = concat!(
    "                              CPU µs per call         calls per second    latency p50/p99 ms\n",
    "era    call           form   gateway  proxy  ratio   gateway    proxy   gateway       proxy",
);

/// The measurements of one round, or the medians of several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measurement {
    cpu_us: f64,
    per_second: f64,
    p50_ms: f64,
    p99_ms: f64,
}

impl Measurement {
    pub(crate) fn of(cpu: Duration, ran: &LoadResult) -> Self {
        let calls = ran.calls as f64;
        let mut latencies = ran.latencies.clone();
        latencies.sort_unstable();
        let at = |part: f64| {
            let index = ((latencies.len() as f64 - 1.0) * part) as usize;
            latencies[index].as_secs_f64() * 1e3
        };
        Self {
            cpu_us: cpu.as_secs_f64() * 1e6 / calls,
            per_second: calls / ran.time.as_secs_f64(),
            p50_ms: at(0.5),
            p99_ms: at(0.99),
        }
    }

    fn median(rounds: &[Self]) -> Self {
        let of = |value: fn(&Self) -> f64| median(rounds.iter().map(value).collect());
        Self {
            cpu_us: of(|round| round.cpu_us),
            per_second: of(|round| round.per_second),
            p50_ms: of(|round| round.p50_ms),
            p99_ms: of(|round| round.p99_ms),
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// One row of the table.
pub(crate) struct Row {
    cell: Cell,
    gateway: Measurement,
    proxy: Measurement,
    /// CPU time of the gateway divided by that of the proxy. The median over the rounds, because other
    /// load on the machine is about the same in both halves of a round.
    pub(crate) ratio: f64,
}

impl Row {
    /// From the rounds of the gateway and those of the proxy.
    pub(crate) fn new(cell: Cell, [gateway, proxy]: &[Vec<Measurement>; 2]) -> Self {
        let rounds = gateway.iter().zip(proxy);
        let ratios = rounds.map(|(gateway, proxy)| gateway.cpu_us / proxy.cpu_us);
        Self {
            cell,
            gateway: Measurement::median(gateway),
            proxy: Measurement::median(proxy),
            ratio: median(ratios.collect()),
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (gateway, proxy) = (&self.gateway, &self.proxy);
        write!(
            f,
            "{}  {:>8.1} {:>6.1} {:>6.2}  {:>8.0} {:>8.0}  {:>5.1} /{:>5.1} {:>5.1} /{:>5.1}",
            self.cell,
            gateway.cpu_us,
            proxy.cpu_us,
            self.ratio,
            gateway.per_second,
            proxy.per_second,
            gateway.p50_ms,
            gateway.p99_ms,
            proxy.p50_ms,
            proxy.p99_ms
        )
    }
}
