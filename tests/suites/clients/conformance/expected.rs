//! Every scenario that the suite has for servers, by revision: what passes, and what can
//! not, with the reason. A scenario that changes sides fails the test until it is moved.

use super::report::Expected;

const ASKS: &str = "it needs a tool that asks its client for something in the middle of a \
    call; a skill can not: it works with what it was given and granted";

const TASKS: &str = "an extension: calls that go on without their callers. Here a call lives \
    as long as somebody waits for it";

/// Revision 2025-11-25.
pub const SESSIONS: Expected = Expected {
    passes: &[
        ("server-initialize", &[]),
        ("logging-set-level", &[]),
        ("ping", &[]),
        ("completion-complete", &[]),
        ("tools-list", &[]),
        ("tools-call-simple-text", &[]),
        ("tools-call-image", &[]),
        ("tools-call-audio", &[]),
        ("tools-call-embedded-resource", &[]),
        ("tools-call-mixed-content", &[]),
        ("tools-call-with-logging", &[]),
        ("tools-call-error", &[]),
        ("tools-call-with-progress", &[]),
        ("server-sse-multiple-streams", &[]),
        ("resources-list", &[]),
        ("resources-read-text", &[]),
        ("resources-read-binary", &[]),
        ("resources-templates-read", &[]),
        ("resources-subscribe", &[]),
        ("resources-unsubscribe", &[]),
        ("prompts-list", &[]),
        ("prompts-get-simple", &[]),
        ("prompts-get-with-args", &[]),
        ("prompts-get-embedded-resource", &[]),
        ("prompts-get-with-image", &[]),
        ("dns-rebinding-protection", &[]),
        // These are not scored for this revision.
        ("server-session-lifecycle", &[]),
        ("json-schema-2020-12", &[]),
        (
            "server-sse-polling",
            &[(
                "server-sse-disconnect-resume",
                "it needs a tool that closes the stream of its own call; no skill knows of streams",
            )],
        ),
    ],
    inapplicable: &[
        ("tools-call-sampling", ASKS),
        ("tools-call-elicitation", ASKS),
        ("elicitation-sep1034-defaults", ASKS),
        ("elicitation-sep1330-enums", ASKS),
    ],
};

/// Revision 2026-07-28.
pub const STATELESS: Expected = Expected {
    passes: &[
        (
            "server-stateless",
            &[
                ("sep-2575-server-rejects-undeclared-capability", ASKS),
                ("sep-2575-missing-capability-http-400", ASKS),
            ],
        ),
        ("completion-complete", &[]),
        ("tools-list", &[]),
        ("tools-call-simple-text", &[]),
        ("tools-call-image", &[]),
        ("tools-call-audio", &[]),
        ("tools-call-embedded-resource", &[]),
        ("tools-call-mixed-content", &[]),
        ("tools-call-error", &[]),
        ("tools-call-with-progress", &[]),
        ("server-sse-multiple-streams", &[]),
        ("resources-list", &[]),
        ("resources-read-text", &[]),
        ("resources-read-binary", &[]),
        ("resources-templates-read", &[]),
        ("sep-2164-resource-not-found", &[]),
        ("prompts-list", &[]),
        ("prompts-get-simple", &[]),
        ("prompts-get-with-args", &[]),
        ("prompts-get-embedded-resource", &[]),
        ("prompts-get-with-image", &[]),
        ("dns-rebinding-protection", &[]),
        ("caching", &[]),
        ("input-required-result-unsupported-methods", &[]),
        ("input-required-result-validate-input", &[]),
        // These are not scored for this revision.
        ("json-schema-2020-12", &[]),
        ("http-header-validation", &[]),
        ("http-custom-header-server-validation", &[]),
    ],
    inapplicable: &[
        ("input-required-result-basic-elicitation", ASKS),
        ("input-required-result-basic-sampling", ASKS),
        ("input-required-result-basic-list-roots", ASKS),
        ("input-required-result-request-state", ASKS),
        ("input-required-result-multiple-input-requests", ASKS),
        ("input-required-result-multi-round", ASKS),
        ("input-required-result-missing-input-response", ASKS),
        ("input-required-result-non-tool-request", ASKS),
        ("input-required-result-result-type", ASKS),
        ("input-required-result-tampered-state", ASKS),
        ("input-required-result-capability-check", ASKS),
        ("input-required-result-ignore-extra-params", ASKS),
        ("tasks-lifecycle", TASKS),
        ("tasks-capability-negotiation", TASKS),
        ("tasks-wire-fields", TASKS),
        ("tasks-request-state-removal", TASKS),
        ("tasks-mrtr-input", TASKS),
        ("tasks-request-headers", TASKS),
        ("tasks-dispatch-and-envelope", TASKS),
        ("tasks-status-notifications", TASKS),
        ("tasks-required-task-error", TASKS),
        ("tasks-mrtr-composition", TASKS),
    ],
};
