//! A fault as people see it in a terminal: the line of the file with a mark under
//! what is meant.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::fault::{Fault, Severity};
use super::source::SourceText;
use crate::model::Shown as _;

pub(super) fn render(fault: &Fault, source: Option<&SourceText>, colours: bool) -> String {
    let level = match fault.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(fault.what.as_str()));
    if let (Some(source), Some(span)) = (source, &fault.span) {
        let mark = AnnotationKind::Primary.span(span.clone());
        let mark = mark.label(fault.cause.as_deref());
        let mut snippet = Snippet::source(source.text())
            .path(source.file().shown().to_string())
            .annotation(mark);
        if let Some(related) = &fault.related {
            let mark = AnnotationKind::Context.span(related.span.clone());
            snippet = snippet.annotation(mark.label(related.what.as_str()));
        }
        group = group.element(snippet);
    } else if let Some(cause) = &fault.cause {
        group = group.element(Level::NOTE.with_name("cause").message(cause.as_str()));
    }
    if let Some(help) = &fault.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = if colours {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    renderer.render(&[group])
}
