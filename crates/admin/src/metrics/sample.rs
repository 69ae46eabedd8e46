//! Writes one family of figures that were just looked up.

use std::fmt;

use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use tidegate_core::{Metric, MetricKind};

/// One value under its labels.
pub(super) type Sample<'a> = (Vec<(&'a str, &'a str)>, f64);

/// Writes a figure with its values; one without values is left out.
pub(super) fn write(
    encoder: &mut DescriptorEncoder<'_>,
    figure: &Metric,
    samples: &[Sample<'_>],
) -> fmt::Result {
    let kind = match figure.kind {
        MetricKind::Counter => MetricType::Counter,
        MetricKind::Gauge | MetricKind::Histogram => MetricType::Gauge,
    };
    family(encoder, figure.family(), figure.meaning, kind, samples)
}

/// Writes gauges that share a name which is not known beforehand.
pub(super) fn gauges(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    meaning: &str,
    samples: &[Sample<'_>],
) -> fmt::Result {
    family(encoder, name, meaning, MetricType::Gauge, samples)
}

fn family(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    meaning: &str,
    kind: MetricType,
    samples: &[Sample<'_>],
) -> fmt::Result {
    if samples.is_empty() {
        return Ok(());
    }
    let mut family = encoder.encode_descriptor(name, meaning, None, kind)?;
    for (labels, value) in samples {
        match labels.is_empty() {
            true => one(&mut family, kind, *value)?,
            false => one(&mut family.encode_family(labels)?, kind, *value)?,
        }
    }
    Ok(())
}

fn one(sample: &mut MetricEncoder<'_>, kind: MetricType, value: f64) -> fmt::Result {
    match kind {
        MetricType::Counter => sample.encode_counter::<NoLabelSet, _, f64>(&value, None),
        _ => sample.encode_gauge(&value),
    }
}
