//! Health, gauges and list sizes of the sources and the components of the gateway.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use tidegate_core::{
    Caller, ClientContext, GaugeValue, Health, HealthCheck, List, Metric, MetricKind, Source,
    SourceId, Viewer,
};

use super::sample::{Sample, encode_gauge, encode_metric};

const HEALTH: Metric = Metric {
    name: "tidegate_health",
    kind: MetricKind::Gauge,
    labels: &["kind", "component"],
    meaning: "Health of a source (kind `source`) or a component of the gateway (kind `gateway`): 1 \
              healthy, 0.5 warning, 0 critical",
};

const CATALOG_ENTRIES: Metric = Metric {
    name: "tidegate_catalog_entries",
    kind: MetricKind::Gauge,
    labels: &["source", "list"],
    meaning: "Entries of a source's list of tools, prompts, resources or resource templates",
};

/// The prefix of gauges from the health report.
const COMPONENT_PREFIX: &str = "tidegate_component_";

const COMPONENT_GAUGES: Metric = Metric {
    name: "tidegate_component_NAME",
    kind: MetricKind::Gauge,
    labels: &["kind", "component"],
    meaning: "A gauge of `resource://system/health`, where NAME is its name there. The component \
              `transports` has the open `calls`, `streams` and `sessions`. Remote servers have \
              `parked_calls`, `connects` (successful connections) and `dropped_log_messages` \
              (outside of calls, for no known client). Other kinds of sources have gauges of \
              their own",
};

const COMPONENT_GAUGE_HELP: &str = "A gauge of the health report";

pub(super) const METRICS: &[Metric] = &[HEALTH, CATALOG_ENTRIES, COMPONENT_GAUGES];

/// Everything that reports its health.
pub(super) struct Components {
    pub(super) sources: Vec<(SourceId, Arc<dyn Source>)>,
    pub(super) components: Vec<Arc<dyn HealthCheck>>,
}

/// The health report of one source or component.
struct NamedHealth<'a> {
    kind: &'static str,
    name: &'a str,
    health: Health,
    gauges: Vec<GaugeValue>,
}

impl Components {
    fn health(&self) -> Vec<NamedHealth<'_>> {
        let components = self.components.iter().map(|component| {
            let report = component.report();
            NamedHealth {
                kind: "gateway",
                name: component.name(),
                health: report.health,
                gauges: report.gauges,
            }
        });
        let sources = self.sources.iter().map(|(id, source)| NamedHealth {
            kind: "source",
            name: id.as_str(),
            health: source.health(),
            gauges: source.gauges(),
        });
        components.chain(sources).collect()
    }

    fn catalog_entries(&self) -> Vec<Sample<'_>> {
        let viewer = Viewer {
            caller: &Caller::local(),
            client: &ClientContext::of_gateway(),
        };
        let mut samples = Vec::new();
        for (id, source) in &self.sources {
            let catalog = source.catalog(&viewer);
            for list in List::ALL {
                let labels = vec![("source", id.as_str()), ("list", list.member())];
                samples.push((labels, float(catalog.list(list).len() as u64)));
            }
        }
        samples
    }
}

impl NamedHealth<'_> {
    fn sample(&self, value: f64) -> Sample<'_> {
        (vec![("kind", self.kind), ("component", self.name)], value)
    }
}

impl Collector for Components {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let reports = self.health();
        let health: Vec<_> = reports
            .iter()
            .map(|report| report.sample(health_value(&report.health)))
            .collect();
        encode_metric(&mut encoder, &HEALTH, &health)?;
        encode_metric(&mut encoder, &CATALOG_ENTRIES, &self.catalog_entries())?;
        // One family per gauge name: values of different gauges must not be summed.
        let mut families: BTreeMap<&str, Vec<Sample<'_>>> = BTreeMap::new();
        for report in &reports {
            for gauge in report.gauges.iter().filter(|gauge| is_valid(gauge.name)) {
                let family = families.entry(gauge.name).or_default();
                family.push(report.sample(float(gauge.value)));
            }
        }
        for (name, samples) in families {
            let name = format!("{COMPONENT_PREFIX}{name}");
            encode_gauge(&mut encoder, &name, COMPONENT_GAUGE_HELP, &samples)?;
        }
        Ok(())
    }
}

/// Whether the name may be part of a metric name: an invalid one would make the whole page invalid.
fn is_valid(name: &str) -> bool {
    name.bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

fn health_value(health: &Health) -> f64 {
    match health {
        Health::Healthy => 1.0,
        Health::Warning(_) => 0.5,
        Health::Critical(_) => 0.0,
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the format only has floats, which are exact for every number that we count"
)]
fn float(value: u64) -> f64 {
    value as f64
}

impl fmt::Debug for Components {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Components")
    }
}
