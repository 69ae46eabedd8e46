//! How the sources and the parts of the gateway are: the numbers of the health report, to be scraped.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use tidegate_core::{
    Caller, ClientContext, GaugeValue, Health, HealthCheck, List, Metric, MetricKind, Source,
    SourceId, Viewer,
};

use super::sample::{Sample, gauges, write};

const HEALTH: Metric = Metric {
    name: "tidegate_health",
    kind: MetricKind::Gauge,
    labels: &["kind", "component"],
    meaning: "How a source (kind `source`) or a part of the gateway (kind `part`) is: 1 it works, 0.5 \
              someone should look, 0 it does not work",
};

const LISTED: Metric = Metric {
    name: "tidegate_listed",
    kind: MetricKind::Gauge,
    labels: &["source", "list"],
    meaning: "How many entries a source has in each of its lists",
};

/// How the numbers of the health report are called, before their own names.
const COMPONENT: &str = "tidegate_component_";

const VITAL: Metric = Metric {
    name: "tidegate_component_NAME",
    kind: MetricKind::Gauge,
    labels: &["kind", "component"],
    meaning: "A number of `resource://system/health`, under the name that it has there. Of the part \
              `transports`: `calls`, `streams` and `sessions` that are open. Of a server: \
              `waiting_for_clients`, the calls that wait for an answer of their client, and \
              `times_reached`. Others come with the kind of the source",
};

/// What each of them says; the page says it once, and more of it.
const SHORT: &str = "A number of the health report";

pub(super) const METRICS: &[Metric] = &[HEALTH, LISTED, VITAL];

/// Everything that can say how it is.
pub(super) struct Components {
    pub(super) sources: Vec<(SourceId, Arc<dyn Source>)>,
    pub(super) parts: Vec<Arc<dyn HealthCheck>>,
}

/// What one of them says.
struct Found<'a> {
    kind: &'static str,
    name: &'a str,
    health: Health,
    gauges: Vec<GaugeValue>,
}

impl Components {
    fn look(&self) -> Vec<Found<'_>> {
        let parts = self.parts.iter().map(|part| {
            let report = part.report();
            Found {
                kind: "part",
                name: part.name(),
                health: report.health,
                gauges: report.gauges,
            }
        });
        let sources = self.sources.iter().map(|(id, source)| Found {
            kind: "source",
            name: id.as_str(),
            health: source.health(),
            gauges: source.gauges(),
        });
        parts.chain(sources).collect()
    }

    fn listed(&self) -> Vec<Sample<'_>> {
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

impl Found<'_> {
    fn sample(&self, value: f64) -> Sample<'_> {
        (vec![("kind", self.kind), ("component", self.name)], value)
    }
}

impl Collector for Components {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let found = self.look();
        let health: Vec<_> = found
            .iter()
            .map(|one| one.sample(level(&one.health)))
            .collect();
        write(&mut encoder, &HEALTH, &health)?;
        write(&mut encoder, &LISTED, &self.listed())?;
        // One family for each name: adding up what is called otherwise would mean nothing.
        let mut families: BTreeMap<&str, Vec<Sample<'_>>> = BTreeMap::new();
        for one in &found {
            for gauge in one.gauges.iter().filter(|gauge| is_name(gauge.name)) {
                let family = families.entry(gauge.name).or_default();
                family.push(one.sample(float(gauge.value)));
            }
        }
        for (name, samples) in families {
            let full = format!("{COMPONENT}{name}");
            gauges(&mut encoder, &full, SHORT, &samples)?;
        }
        Ok(())
    }
}

/// Whether it can be part of a name: another would spoil the whole page.
fn is_name(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

fn level(health: &Health) -> f64 {
    match health {
        Health::Good => 1.0,
        Health::Degraded(_) => 0.5,
        Health::Down(_) => 0.0,
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the format has floats alone, and these are exact beyond any number we count"
)]
fn float(value: u64) -> f64 {
    value as f64
}

impl fmt::Debug for Components {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Components")
    }
}
