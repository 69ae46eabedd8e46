//! A strict parser of `/metrics`: what it accepts, every scraper accepts.

use std::collections::{BTreeMap, BTreeSet};

/// All families of one page, by name.
pub(super) struct Exposition {
    pub(super) families: BTreeMap<String, Family>,
}

pub(super) struct Family {
    pub(super) kind: String,
    samples: Vec<Sample>,
}

struct Sample {
    name: String,
    labels: Labels,
    value: f64,
}

type Labels = BTreeMap<String, String>;

impl Exposition {
    #[track_caller]
    pub(super) fn read(text: &str) -> Self {
        let body = text.strip_suffix("# EOF\n").expect("an EOF marker");
        let mut families: BTreeMap<String, Family> = BTreeMap::new();
        let mut current: Option<(String, Family)> = None;
        let mut described = String::new();
        for line in body.lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                let (name, help_text) = help.split_once(' ').expect("a help text");
                assert!(is_name(name) && !help_text.is_empty(), "{line}");
                name.clone_into(&mut described);
            } else if let Some(kind) = line.strip_prefix("# TYPE ") {
                let (name, kind) = kind.split_once(' ').unwrap();
                assert_eq!(name, described, "HELP precedes TYPE");
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                finish(&mut families, current.take());
                let kind = kind.to_owned();
                let samples = Vec::new();
                current = Some((name.to_owned(), Family { kind, samples }));
            } else {
                let (name, family) = current.as_mut().expect("TYPE precedes samples");
                family.take(name, line);
            }
        }
        finish(&mut families, current);
        Self { families }
    }

    /// The value of a series with exactly these labels; zero if there is none.
    pub(super) fn value(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let labels = labels
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        let labels: Labels = labels.collect();
        let mut samples = self.families.values().flat_map(|family| &family.samples);
        let sample = samples.find(|sample| sample.name == name && sample.labels == labels);
        sample.map_or(0.0, |sample| sample.value)
    }

    /// Every series, without its value.
    pub(super) fn series(&self) -> BTreeSet<String> {
        let samples = self.families.values().flat_map(|family| &family.samples);
        samples
            .map(|other| format!("{}{:?}", other.name, other.labels))
            .collect()
    }
}

fn finish(families: &mut BTreeMap<String, Family>, done: Option<(String, Family)>) {
    let Some((name, family)) = done else { return };
    family.check(&name);
    assert!(
        families.insert(name.clone(), family).is_none(),
        "{name} is repeated"
    );
}

impl Family {
    fn take(&mut self, family: &str, line: &str) {
        let (series, value) = line.rsplit_once(' ').expect("a sample has a value");
        let (name, labels) = match series.split_once('{') {
            Some((name, labels)) => (name, labels.strip_suffix('}').expect("braces are closed")),
            None => (series, ""),
        };
        let suffixes: &[&str] = match self.kind.as_str() {
            "counter" => &["_total"],
            "gauge" => &[""],
            _ => &["_sum", "_count", "_bucket"],
        };
        let suffix = name.strip_prefix(family).unwrap_or("other family");
        assert!(suffixes.contains(&suffix), "{line}");
        let sample = Sample {
            name: name.to_owned(),
            labels: read_labels(labels),
            value: value.parse().unwrap(),
        };
        let is_same_series =
            |other: &Sample| other.name == sample.name && other.labels == sample.labels;
        assert!(
            !self.samples.iter().any(is_same_series),
            "{line} is repeated"
        );
        assert!(sample.value.is_finite() && sample.value >= 0.0, "{line}");
        self.samples.push(sample);
    }

    /// The names of its labels, except that of buckets.
    pub(super) fn labels(&self) -> BTreeSet<&str> {
        let labels = self.samples.iter().flat_map(|sample| sample.labels.keys());
        labels
            .map(String::as_str)
            .filter(|name| *name != "le")
            .collect()
    }

    /// All samples have the same labels, and the buckets of a histogram are consistent.
    fn check(&self, family: &str) {
        let mut buckets: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
        for sample in &self.samples {
            let mut labels = sample.labels.clone();
            let bound = labels.remove("le");
            assert_eq!(
                labels.keys().collect::<Vec<_>>(),
                self.labels().into_iter().collect::<Vec<_>>()
            );
            assert_eq!(
                bound.is_some(),
                sample.name.ends_with("_bucket"),
                "{family}"
            );
            if let Some(bound) = bound {
                let bound = bound.replace("+Inf", "inf").parse().unwrap();
                buckets
                    .entry(labels)
                    .or_default()
                    .push((bound, sample.value));
            }
        }
        for (labels, buckets) in buckets {
            assert!(buckets.is_sorted(), "{family} {labels:?}");
            let (last, all) = *buckets.last().unwrap();
            assert!(last.is_infinite(), "{family}");
            let mut counts = self
                .samples
                .iter()
                .filter(|other| other.name == format!("{family}_count"));
            assert_eq!(
                counts.find(|other| other.labels == labels).unwrap().value,
                all
            );
        }
    }
}

fn read_labels(text: &str) -> Labels {
    let (mut labels, mut rest) = (BTreeMap::new(), text);
    while !rest.is_empty() {
        let (name, after) = rest.split_once("=\"").expect("a label has a value");
        assert!(is_name(name), "{text}");
        let mut value = String::new();
        let mut chars = after.char_indices();
        let end = loop {
            match chars.next().expect("a closing quote") {
                (at, '"') => break at,
                (_, '\\') => value.push(chars.next().expect("an escaped character").1),
                (_, other) => value.push(other),
            }
        };
        assert!(labels.insert(name.to_owned(), value).is_none(), "{text}");
        rest = &after[end + 1..];
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
    labels
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
