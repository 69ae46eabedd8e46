//! A histogram of durations without a lock: many calls end at the same time.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::{MetricType, TypedMetric};

/// Upper bounds of the buckets in seconds: from a list served from memory to a tool that runs for a
/// minute.
const BUCKET_BOUNDS_SECONDS: [f64; 18] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0, 30.0, 60.0,
];

/// A histogram of durations. Clones share their counts.
#[derive(Clone, Debug, Default)]
pub(super) struct DurationHistogram(Arc<BucketCounts>);

#[derive(Debug, Default)]
struct BucketCounts {
    /// One for each bound, and one for longer durations.
    buckets: [AtomicU64; BUCKET_BOUNDS_SECONDS.len() + 1],
    nanoseconds: AtomicU64,
}

impl DurationHistogram {
    pub(super) fn observe(&self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        let bucket = BUCKET_BOUNDS_SECONDS.partition_point(|bound| *bound < seconds);
        self.0.buckets[bucket].fetch_add(1, Relaxed);
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.0.nanoseconds.fetch_add(nanoseconds, Relaxed);
    }
}

impl TypedMetric for DurationHistogram {
    const TYPE: MetricType = MetricType::Histogram;
}

impl EncodeMetric for DurationHistogram {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        let bounds = BUCKET_BOUNDS_SECONDS.into_iter().chain([f64::INFINITY]);
        let counts = self.0.buckets.iter().map(|count| count.load(Relaxed));
        let buckets: Vec<_> = bounds.zip(counts).collect();
        // Summed from the buckets, so that both agree while other calls end.
        let count = buckets.iter().map(|(_, count)| count).sum();
        let sum = Duration::from_nanos(self.0.nanoseconds.load(Relaxed)).as_secs_f64();
        encoder.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_a_duration_in_the_first_bucket_that_fits() {
        let histogram = DurationHistogram::default();
        for micros in [0, 100, 101, 59_000_000, 61_000_000] {
            histogram.observe(Duration::from_micros(micros));
        }
        let count = |bucket: usize| histogram.0.buckets[bucket].load(Relaxed);
        assert_eq!([count(0), count(1), count(17), count(18)], [2, 1, 1, 1]);
    }
}
