//! What is wrong with a configuration, said so that it can be repaired: what, where,
//! why, and what to do. All faults of a file travel together.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use serde::ser::{Serialize, Serializer};

use super::source::SourceText;
use super::{Place, render};

/// Whether a fault stops the configuration from being used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The configuration is refused.
    Error,
    /// The configuration is used; it may not do what its author meant.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Fault {
    /// How bad it is.
    pub severity: Severity,
    /// Where it is; `None` when the file as a whole is meant, or there is no file.
    pub place: Option<Place>,
    /// The full key that it is about, if it is about one.
    pub key: Option<String>,
    /// What is wrong, in one line.
    pub what: String,
    /// Why that is wrong: the rule and what was found.
    pub cause: Option<String>,
    /// What to do.
    pub help: Option<String>,
    /// Another place that has to do with it.
    pub related: Option<Related>,
    #[serde(skip)]
    pub(super) span: Option<Range<usize>>,
}

/// Another place that has to do with a fault.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Related {
    /// Where it is.
    pub place: Place,
    /// What is there.
    pub what: String,
    #[serde(skip)]
    pub(super) span: Range<usize>,
}

impl Fault {
    pub(super) fn error(what: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            place: None,
            key: None,
            what: what.into(),
            cause: None,
            help: None,
            related: None,
            span: None,
        }
    }

    pub(super) fn warning(what: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(what)
        }
    }

    pub(super) fn because(mut self, cause: impl Into<String>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(super) fn about(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    pub(super) fn at(mut self, source: &SourceText, span: &Range<usize>) -> Self {
        self.place = Some(source.place(span.start));
        self.span = Some(span.clone());
        self
    }

    pub(super) fn with_related(
        mut self,
        source: &SourceText,
        span: &Range<usize>,
        what: impl Into<String>,
    ) -> Self {
        let place = source.place(span.start);
        self.related = Some(Related {
            place,
            what: what.into(),
            span: span.clone(),
        });
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.severity, self.what)?;
        if let Some(place) = &self.place {
            write!(f, "\n  --> {place}:{}", place.column)?;
        }
        if let Some(cause) = &self.cause {
            write!(f, "\n  cause: {cause}")?;
        }
        if let Some(Related { place, what, .. }) = &self.related {
            write!(f, "\n  see: {what} ({place})")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

/// Everything that is wrong with one configuration, in the order of the file.
///
/// [`Display`](fmt::Display) prints plain text; [`render`](Self::render) adds the lines
/// of the file that are meant. Serialises as the list of its faults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    list: Vec<Fault>,
    source: Option<SourceText>,
}

impl Faults {
    pub(super) fn new(mut list: Vec<Fault>, source: Option<SourceText>) -> Self {
        list.sort_by_key(|fault| fault.span.as_ref().map_or(0, |span| span.start));
        list.dedup();
        Self { list, source }
    }

    /// The faults, in the order of the file.
    pub fn iter(&self) -> std::slice::Iter<'_, Fault> {
        self.list.iter()
    }

    /// How many there are, warnings included.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.list
            .iter()
            .any(|fault| fault.severity == Severity::Error)
    }

    /// The file that they are about.
    pub fn file(&self) -> Option<&Path> {
        self.source.as_ref().map(SourceText::file)
    }

    /// The faults for a terminal: with the lines of the file, and with ANSI colours if
    /// they are asked for.
    pub fn render(&self, colours: bool) -> String {
        let rendered = self.list.iter();
        let rendered: Vec<String> = rendered
            .map(|fault| self.render_one(fault, colours))
            .collect();
        rendered.join("\n\n")
    }

    /// One of the faults as [`render`](Self::render) has it.
    pub fn render_one(&self, fault: &Fault, colours: bool) -> String {
        render::render(fault, self.source.as_ref(), colours)
    }
}

impl<'f> IntoIterator for &'f Faults {
    type Item = &'f Fault;
    type IntoIter = std::slice::Iter<'f, Fault>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.list.iter().enumerate() {
            if index > 0 {
                f.write_str("\n\n")?;
            }
            fault.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

impl Serialize for Faults {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.list)
    }
}
