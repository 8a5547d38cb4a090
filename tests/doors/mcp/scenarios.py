"""The official scenarios for servers: those that run, in which version of the protocol, and those that cannot apply."""

OLDER, NEWER = "2025-11-25", "2026-07-28"

_OF_BOTH = (
    "completion-complete",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "tools-call-with-progress",
    "json-schema-2020-12",
    "server-sse-multiple-streams",
    "resources-list",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
    "dns-rebinding-protection",
)
_OF_OLDER = (
    "server-initialize",
    "server-session-lifecycle",
    "ping",
    "logging-set-level",
    "tools-call-with-logging",
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "resources-subscribe",
    "resources-unsubscribe",
)
_OF_NEWER = (
    "server-stateless",
    "sep-2164-resource-not-found",
    "caching",
    "http-header-validation",
    "http-custom-header-server-validation",
    "input-required-result-basic-elicitation",
    "input-required-result-basic-sampling",
    "input-required-result-basic-list-roots",
    "input-required-result-request-state",
    "input-required-result-multiple-input-requests",
    "input-required-result-multi-round",
    "input-required-result-missing-input-response",
    "input-required-result-non-tool-request",
    "input-required-result-result-type",
    "input-required-result-unsupported-methods",
    "input-required-result-tampered-state",
    "input-required-result-capability-check",
    "input-required-result-ignore-extra-params",
    "input-required-result-validate-input",
)
#: What runs, with the suite's own tools behind our mounting.
RUN = {OLDER: (*_OF_BOTH, *_OF_OLDER), NEWER: (*_OF_BOTH, *_OF_NEWER)}

_OF_OURS = (
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
    "server-sse-multiple-streams",
)
#: What needs no tool, resource or prompt of the suite's, and so runs against our own server as well.
OURS = {
    OLDER: (*_OF_OURS, "server-initialize", "server-session-lifecycle", "ping"),
    NEWER: (
        *_OF_OURS,
        "sep-2164-resource-not-found",
        "caching",
        "http-header-validation",
        "input-required-result-unsupported-methods",
    ),
}
#: The checks of `server-stateless` that call a tool of the suite's, or ask for streams of changes: our lists never do.
STATELESS_WITH_FIXTURES = frozenset(
    {
        "sep-2575-server-rejects-undeclared-capability",
        "sep-2575-missing-capability-http-400",
        "sep-2575-http-server-no-independent-requests-on-stream",
        "sep-2575-server-no-log-without-loglevel",
        "sep-2575-server-sends-subscription-ack",
        "sep-2575-server-tags-subscription-id",
        "sep-2575-server-honors-notification-filter",
        "sep-2575-server-sends-prompts-list-changed-on-subscription",
        "sep-2575-server-sends-tools-list-changed-on-subscription",
    }
)

_NO_POLLING = (
    "only recommended, and gone in 2026-07-28: a stream that is cut off is taken up again by GET, which our mount "
    "refuses, and from a store of events, which it does not keep; no tool of ours runs long enough to need it"
)
_NO_SKILLS = "an extension (SEP-2640) that our server does not declare: it has no skills to hand out"
_NO_TASKS = "an extension (SEP-2663) that our server does not declare: each call of ours ends in its own answer"
#: What cannot apply to a server like ours, and why.
NOT_APPLICABLE = {
    "server-sse-polling": _NO_POLLING,
    "sep-2640-skills-directory": _NO_SKILLS,
    "sep-2640-skills-enumeration": _NO_SKILLS,
    "sep-2640-skills-manifest": _NO_SKILLS,
    "tasks-lifecycle": _NO_TASKS,
    "tasks-capability-negotiation": _NO_TASKS,
    "tasks-wire-fields": _NO_TASKS,
    "tasks-request-state-removal": _NO_TASKS,
    "tasks-mrtr-input": _NO_TASKS,
    "tasks-request-headers": _NO_TASKS,
    "tasks-dispatch-and-envelope": _NO_TASKS,
    "tasks-status-notifications": _NO_TASKS,
    "tasks-required-task-error": _NO_TASKS,
    "tasks-mrtr-composition": _NO_TASKS,
}
