//! Encodes a metric family from values that were just collected.

use std::fmt;

use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use tidegate_core::{Metric, MetricKind};

/// One value with its labels.
pub(super) type Sample<'a> = (Vec<(&'a str, &'a str)>, f64);

/// Encodes a metric; one without samples is left out.
pub(super) fn encode_metric(
    encoder: &mut DescriptorEncoder<'_>,
    metric: &Metric,
    samples: &[Sample<'_>],
) -> fmt::Result {
    let kind = match metric.kind {
        MetricKind::Counter => MetricType::Counter,
        MetricKind::Gauge | MetricKind::Histogram => MetricType::Gauge,
    };
    encode_family(encoder, metric.family(), metric.meaning, kind, samples)
}

/// Encodes a gauge whose name is only known at run time.
pub(super) fn encode_gauge(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    samples: &[Sample<'_>],
) -> fmt::Result {
    encode_family(encoder, name, help, MetricType::Gauge, samples)
}

fn encode_family(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    kind: MetricType,
    samples: &[Sample<'_>],
) -> fmt::Result {
    if samples.is_empty() {
        return Ok(());
    }
    let mut family = encoder.encode_descriptor(name, help, None, kind)?;
    for (labels, value) in samples {
        match labels.is_empty() {
            true => encode_value(&mut family, kind, *value)?,
            false => encode_value(&mut family.encode_family(labels)?, kind, *value)?,
        }
    }
    Ok(())
}

fn encode_value(encoder: &mut MetricEncoder<'_>, kind: MetricType, value: f64) -> fmt::Result {
    match kind {
        MetricType::Counter => encoder.encode_counter::<NoLabelSet, _, f64>(&value, None),
        _ => encoder.encode_gauge(&value),
    }
}
