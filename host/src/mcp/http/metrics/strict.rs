//! Reads Prometheus' text format as strictly as its description says, for tests: HELP and
//! TYPE once and before the samples, families together, no sample twice, names and escapes
//! right, buckets cumulative, `+Inf` the same as the count.

use std::collections::{BTreeMap, HashSet};

type Labels = BTreeMap<String, String>;

/// What was read.
#[derive(Default)]
pub struct Families {
    kinds: BTreeMap<String, String>,
    samples: Vec<(String, Labels, f64)>,
}

impl Families {
    /// Reads a whole text.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut found = Self::default();
        let mut current = String::new();
        let mut helped = HashSet::new();
        if !text.ends_with('\n') {
            return Err("the last line has no end".into());
        }
        for line in text.lines() {
            let why = |what: &str| Err(format!("{what}: `{line}`"));
            if let Some(help) = line.strip_prefix("# HELP ") {
                let (name, _) = help.split_once(' ').ok_or("HELP without a text")?;
                if !helped.insert(name.to_owned()) {
                    return why("a second HELP");
                }
                name.clone_into(&mut current);
            } else if let Some(kind) = line.strip_prefix("# TYPE ") {
                let (name, kind) = kind.split_once(' ').ok_or("TYPE without a kind")?;
                if name != current || !["counter", "gauge", "histogram"].contains(&kind) {
                    return why("TYPE of another family, or of no kind");
                }
                if found
                    .kinds
                    .insert(name.to_owned(), kind.to_owned())
                    .is_some()
                {
                    return why("a second TYPE");
                }
            } else {
                let (name, labels, value) = sample(line)?;
                if found.family_of(&name) != Some(current.as_str()) {
                    return why("a sample outside of its family");
                }
                if found.value_of(&name, &labels).is_some() {
                    return why("a sample that is there already");
                }
                found.samples.push((name, labels, value));
            }
        }
        found.check_histograms()?;
        Ok(found)
    }

    /// The family that a sample of this name is of.
    fn family_of(&self, sample: &str) -> Option<&str> {
        let of_histogram = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| {
            let name = sample.strip_suffix(suffix)?;
            let (name, kind) = self.kinds.get_key_value(name)?;
            (kind == "histogram").then_some(name.as_str())
        });
        of_histogram.or_else(|| {
            let (name, kind) = self.kinds.get_key_value(sample)?;
            let fits = kind != "histogram" && (kind == "counter") == name.ends_with("_total");
            fits.then_some(name.as_str())
        })
    }

    fn value_of(&self, name: &str, labels: &Labels) -> Option<f64> {
        let mut samples = self.samples.iter();
        let found = samples.find(|(known, of, _)| known == name && of == labels)?;
        Some(found.2)
    }

    /// The value of a sample.
    pub fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let labels = labels
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
        self.value_of(name, &labels.collect())
    }

    /// What a family is.
    pub fn kind(&self, name: &str) -> Option<&str> {
        self.kinds.get(name).map(String::as_str)
    }

    fn check_histograms(&self) -> Result<(), String> {
        let is_histogram = |(_, kind): &(&String, &String)| kind.as_str() == "histogram";
        for (name, _) in self.kinds.iter().filter(is_histogram) {
            let mut of_labels: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
            for (sample, labels, value) in &self.samples {
                if sample.strip_suffix("_bucket") == Some(name) {
                    let mut labels = labels.clone();
                    let bound = labels.remove("le").ok_or("a bucket without `le`")?;
                    of_labels
                        .entry(labels)
                        .or_default()
                        .push((number(&bound)?, *value));
                }
            }
            for (labels, buckets) in of_labels {
                let grows = |pair: &[(f64, f64)]| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1;
                let last = buckets.last().copied().unwrap_or_default();
                let count = self.value_of(&format!("{name}_count"), &labels);
                let sum = self.value_of(&format!("{name}_sum"), &labels);
                let ends = last.0 == f64::INFINITY && Some(last.1) == count && sum.is_some();
                if !buckets.windows(2).all(grows) || !ends {
                    return Err(format!("the buckets of `{name}` {labels:?}: {buckets:?}"));
                }
            }
        }
        Ok(())
    }
}

fn number(text: &str) -> Result<f64, String> {
    match text {
        "+Inf" => Ok(f64::INFINITY),
        text => text.parse().map_err(|_| format!("`{text}` is no number")),
    }
}

fn is_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit())
}

fn sample(line: &str) -> Result<(String, Labels, f64), String> {
    let end = line.find(['{', ' ']).ok_or("a sample without a value")?;
    let (name, mut rest) = line.split_at(end);
    if !is_name(name) {
        return Err(format!("`{name}` is no name"));
    }
    let mut labels = Labels::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        loop {
            let (label, after) = rest.split_once("=\"").ok_or("a label without a value")?;
            let (value, after) = quoted(after)?;
            if !is_name(label) || labels.insert(label.to_owned(), value).is_some() {
                return Err(format!("the label `{label}`"));
            }
            rest = &after[1..];
            match after.as_bytes()[0] {
                b',' => {}
                b'}' => break,
                _ => return Err(format!("behind a label: `{after}`")),
            }
        }
    }
    let value = rest.strip_prefix(' ').ok_or("no space before the value")?;
    Ok((name.to_owned(), labels, number(value)?))
}

/// A value up to its closing quote, and what is behind that.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((index, c)) = chars.next() {
        match c {
            '"' if text.len() > index + 1 => return Ok((value, &text[index + 1..])),
            '\\' => value.push(match chars.next() {
                Some((_, 'n')) => '\n',
                Some((_, c @ ('\\' | '"'))) => c,
                other => return Err(format!("the escape {other:?}")),
            }),
            c => value.push(c),
        }
    }
    Err("a value without an end".into())
}

#[test]
fn what_is_not_well_formed_is_found() {
    let head = "# HELP a_total x\n# TYPE a_total counter\n";
    assert!(Families::read(&format!("{head}a_total{{t=\"x\"}} 1\n")).is_ok());
    for bad in [
        "a_total{t=\"x\"} 1",
        "a_total{t=\"x} 1\n",
        "a_total{t=\"x\",t=\"y\"} 1\n",
        "a_total{t=\"\\x\"} 1\n",
        "a_total 1\na_total 2\n",
        "b_total 1\n",
        "a_total one\n",
        "# HELP a_total again\n",
    ] {
        assert!(Families::read(&format!("{head}{bad}")).is_err(), "{bad}");
    }
    let head = "# HELP h x\n# TYPE h histogram\n";
    let rest = "h_sum 1\nh_count 2\n";
    let good = format!("{head}h_bucket{{le=\"1\"}} 1\nh_bucket{{le=\"+Inf\"}} 2\n{rest}");
    assert!(Families::read(&good).is_ok());
    let falls = format!("{head}h_bucket{{le=\"1\"}} 3\nh_bucket{{le=\"+Inf\"}} 2\n{rest}");
    assert!(Families::read(&falls).is_err());
    let other = format!("{head}h_bucket{{le=\"+Inf\"}} 1\n{rest}");
    assert!(Families::read(&other).is_err());
}
