"""Defines every setting: default, range and help text."""

from dataclasses import field
from typing import Literal

from recollectum.domain.records import dataclass
from recollectum.settings.spec import PRESET, choice, number, text
from recollectum.settings.storage import StorageSettings, TaskSettings
from recollectum.settings.values import (
    are_origins,
    is_address,
    is_agents,
    is_any,
    is_floor,
    is_key_file,
    is_sources,
    is_user,
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LifecycleSettings:
    """How long a memory stays in each state."""

    active_days: int = number(
        PRESET, PRESET, 36_500, "Days until a memory is archived; 0: never, -1: as the preset says."
    )
    archive_days: int = number(PRESET, PRESET, 36_500, "Days in the archive; 0: none, -1: 60 where memories expire.")
    grace_days: int = number(7, 0, 3650, "Days to restore a deleted memory; 0 purges it at the next sweep.")
    agents: str = text(
        "",
        is_agents,
        "names with their days, such as coder=30, scratch=7/0/1",
        "Retention of memories learned through an agent: active days, then optional archive and grace days.",
    )
    clock_leap_days: int = number(
        45, 1, 36_500, "A clock that jumps ahead by more days is not trusted, and nothing ages."
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SessionSettings:
    """Settings of conversations."""

    direct: Literal["channel", "main"] = choice(
        "channel", ("main",), "Whether each channel has its own direct chat, or all share `main`.", project=True
    )
    hook_max_age_hours: int = number(48, 0, 87_600, "Hours until a hook session is pruned; 0 is never.")
    hook_max_count: int = number(500, 0, 1_000_000, "How many hook sessions are kept; 0 is all.")
    shell_history: int = number(10_000, 1, 1_000_000, "How many shell commands are kept of each project.")
    cache_seconds: float = number(
        45.0, 0.0, 86_400, "How long a list of sessions is kept in memory while nothing changes; 0 keeps none."
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RecallSettings:
    """How much recall returns, and how."""

    limit: int = number(10, 1, 1000, "How many hits are returned by default.", project=True)
    max: int = number(1000, 1, 100_000, "Maximum number of hits that a caller may ask for.")
    sources: str = text(
        "memories, sessions, notes",
        is_sources,
        "a comma-separated list of memories, sessions and notes",
        "Which sources are searched by default.",
    )
    rerank: str = choice(
        "off",
        ("remote", "local"),
        "What reranks the best hits: `remote` is an endpoint, `local` a local model; [rerank] configures it.",
    )
    rerank_head: int = number(30, 2, 200, "How many of the best hits are reranked.")
    untrusted: Literal["one", "none", "all"] = choice(
        "one", ("none", "all"), "How many hits of one recall may come from tools or strangers."
    )
    floor: str = text(
        "auto",
        is_floor,
        "auto, or a number from 0 to 1",
        "The score that the best hit must reach before context, hooks, MCP, chat and `recollectum recall` show "
        "anything; `auto` uses the threshold measured for the embedder, 0 shows everything.",
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EmbeddingSettings:
    """The embedding model, and how it is called."""

    provider: str = choice(
        "auto",
        ("local", "openai", "gemini", "ollama", "none"),
        "The embedding provider: `auto` is `local` where it is installed and otherwise `none`; "
        "`openai` is any endpoint that speaks its protocol.",
    )
    model: str = text(
        "",
        is_any,
        "text",
        "The model; empty is the provider's default. "
        "`local` has `recollectum-embed`, `recollectum-embed-quick` and `gte-small`.",
    )
    base_url: str = text(
        "", is_address, "an address that begins with https:// or http://, or empty", "The provider's base URL."
    )
    plain_http: Literal["loopback", "anywhere"] = choice(
        "loopback", ("anywhere",), "Where texts may be sent without TLS: only to this machine, or anywhere."
    )
    # Not checked here: the error would show a key that was written here by mistake.
    key_variable: str = text(
        "", is_any, "text", "The name of the environment variable that holds the provider's API key."
    )
    dimensions: int = number(0, 0, 65_536, "Dimensions of a vector; 0 leaves them to the model.")
    timeout_seconds: float = number(10.0, 0.1, 600, "Timeout of one call to a provider, in seconds.")
    batch: int = number(32, 1, 2048, "Maximum texts in one call to a provider.")
    concurrency: int = number(2, 1, 64, "How many calls to a provider run at once.")
    threads: int = number(1, 1, 64, "How many threads the local model uses.")
    cache_entries: int = number(50_000, 0, 10_000_000, "How many computed vectors a vault caches; 0 is none.")
    query_cache_entries: int = number(1000, 0, 1_000_000, "How many query vectors a process caches; 0 is none.")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RerankSettings:
    """The reranking model, if `recall.rerank` asks for one, and how it is called."""

    model: str = text(
        "",
        is_any,
        "text",
        "The model by its provider's name; for `local` a folder with model.onnx and tokenizer.json.",
    )
    base_url: str = text(
        "",
        is_address,
        "an address that begins with https:// or http://, or empty",
        "The base URL at which `remote` serves `/rerank`.",
    )
    plain_http: Literal["loopback", "anywhere"] = choice(
        "loopback", ("anywhere",), "Where texts may be sent without TLS: only to this machine, or anywhere."
    )
    # Not checked here: the error would show a key that was written here by mistake.
    key_variable: str = text(
        "", is_any, "text", "The name of the environment variable that holds the provider's API key."
    )
    timeout_seconds: float = number(
        10.0, 0.1, 600, "Timeout of reranking, in seconds; after it the list stays as it is."
    )
    threads: int = number(1, 1, 64, "How many threads a local model uses.")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LanguageModelSettings:
    """The language model, how it is called, and what it may cost."""

    provider: str = choice(
        "none",
        (
            "openai",
            "gemini",
            "anthropic",
            "openrouter",
            "ollama",
            "vllm",
            "llamacpp",
            "lmstudio",
            "local",
            "scripted",
        ),
        "The model's provider: `none` leaves everything to rules; `openai` is any endpoint that speaks its protocol; "
        "`local` runs a model in this process; `scripted` follows fixed rules, to try things out.",
    )
    model: str = text("", is_any, "text", "The model by its provider's name; for `local` the path of a GGUF file.")
    base_url: str = text(
        "", is_address, "an address that begins with https:// or http://, or empty", "The provider's base URL."
    )
    plain_http: Literal["loopback", "anywhere"] = choice(
        "loopback", ("anywhere",), "Where prompts may be sent without TLS: only to this machine, or anywhere."
    )
    # Not checked here: the error would show a key that was written here by mistake.
    key_variable: str = text(
        "", is_any, "text", "The name of the environment variable that holds the provider's API key."
    )
    timeout_seconds: float = number(60.0, 0.1, 3600, "Timeout of one call, in seconds; for a stream, of each piece.")
    retries: int = number(4, 0, 20, "How often a call is retried after a timeout or an overload.")
    concurrency: int = number(4, 1, 64, "How many calls run at once.")
    threads: int = number(1, 1, 64, "How many threads the local model uses.")
    window_tokens: int = number(4096, 256, 1_000_000, "Context window of the local model, in tokens.")
    max_output_tokens: int = number(1024, 1, 1_000_000, "Maximum tokens of a reply by default.")
    calls_per_day: int = number(0, 0, 1_000_000_000, "Maximum calls a day (UTC); 0 is no limit.")
    tokens_per_day: int = number(0, 0, 1_000_000_000_000, "Maximum tokens a day, input and output; 0 is no limit.")
    money_per_day: float = number(0.0, 0, 1_000_000_000, "Maximum money a day, by the prices below; 0 is no limit.")
    currency: str = text("USD", is_any, "text", "The currency of prices and money; it is shown, not converted.")
    # Negative means not set, because 0 is a price.
    input_price: float = number(-1.0, -1, 1_000_000, "The price of a million input tokens; -1 is unknown.")
    output_price: float = number(-1.0, -1, 1_000_000, "The price of a million output tokens; -1 is unknown.")
    ask_above_tokens: int = number(
        500_000, 0, 1_000_000_000_000, "Consolidation asks first when it may take more tokens than this."
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NotesSettings:
    """When folders of Markdown notes are checked, and what is read of them."""

    on_search: Literal["on", "off"] = choice("on", ("off",), "Whether recall first looks for changed notes.")
    on_session_start: Literal["on", "off"] = choice("on", ("off",), "Whether a new session looks for changed notes.")
    watch: Literal["on", "off"] = choice(
        "on", ("off",), "Whether a watcher reacts to changes, or only looks at intervals."
    )
    interval_minutes: int = number(0, 0, 10_080, "Minutes between two full scans by a watcher; 0 is never.")
    debounce_seconds: float = number(5.0, 0.0, 3600, "Seconds to wait after a change, or a scan, before the next scan.")
    max_kib: int = number(1024, 1, 102_400, "The largest note that is read, in KiB.")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LearningsSettings:
    """When the LEARNINGS.md files are checked."""

    on_session_start: Literal["on", "off"] = choice(
        "on", ("off",), "Whether a new session imports the edits of an existing LEARNINGS.md."
    )
    debounce_seconds: float = number(5.0, 0.0, 3600, "Seconds between two scans of the files.")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TranscriptSettings:
    """When followed transcripts are read."""

    on_search: Literal["on", "off"] = choice("on", ("off",), "Whether recall first reads the new lines of transcripts.")
    on_session_start: Literal["on", "off"] = choice(
        "on", ("off",), "Whether a new session reads the new lines of transcripts."
    )
    watch: Literal["on", "off"] = choice(
        "on", ("off",), "Whether a watcher reacts to new lines, or only looks at intervals."
    )
    interval_minutes: int = number(0, 0, 10_080, "Minutes between two full scans by a watcher; 0 is never.")
    debounce_seconds: float = number(5.0, 0.0, 3600, "Seconds to wait after a change, or a scan, before the next scan.")
    delta_bytes: int = number(
        100_000, 0, 1_000_000_000, "New bytes after which a transcript is read at once; 0 waits until it is idle."
    )
    delta_messages: int = number(
        50, 0, 1_000_000, "New messages after which a transcript is read at once; 0 waits until it is idle."
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ContextSettings:
    """How much a model gets to see."""

    tokens: int = number(4000, 100, 10_000_000, "The budget of a context, in tokens.", project=True)
    messages: int = number(20, 0, 10_000, "Maximum messages of the session in a context; 0 is none.", project=True)
    memories: int = number(50, 0, 10_000, "Maximum memories in a context; 0 is none.", project=True)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ConsolidationSettings:
    """When a conversation is consolidated into memories, and how often that is tried."""

    idle_minutes: int = number(
        30, 0, 10_080, "Minutes without a turn until a conversation is consolidated; 0 is never."
    )
    clean_slate: Literal["on", "off"] = choice(
        "on",
        ("off",),
        "Whether a conversation consolidated when idle is ended, so that the next turn starts a new one.",
    )
    imported: Literal["off", "on"] = choice(
        "off",
        ("on",),
        "Whether imported conversations are consolidated automatically; what they say waits for review.",
    )
    retries: int = number(5, 0, 100, "How often a failed consolidation is retried.")
    backoff_seconds: int = number(
        60, 0, 86_400, "Seconds until the first retry; each later retry waits four times as long."
    )
    lease_seconds: int = number(
        300, 1, 86_400, "Lease of a job in seconds; after it another process takes over the work of one that died."
    )
    known: int = number(2000, 0, 100_000, "Maximum memories that a consolidation compares with, newest first.")
    instructions: str = text("", is_any, "text", "What a model should keep; empty is durable facts about the person.")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServerSettings:
    """The address and the limits of the daemon."""

    host: str = text("127.0.0.1", bool, "an address", "The address that `recollectum serve` listens on.")
    port: int = number(8377, 0, 65_535, "The port that it listens on; 0 picks a free one.")
    hosts: str = text("", is_any, "a comma-separated list of names", "Further host names it answers to: of a proxy.")
    origins: str = text(
        "",
        are_origins,
        "a comma-separated list such as https://app.example",
        "Origins of web pages that may call the API from a browser (CORS), with a key; none by default.",
    )
    max_body_kb: int = number(4096, 1, 1_048_576, "Maximum body of a request, in KiB.")
    rate_per_minute: int = number(6000, 0, 10_000_000, "Rate limit: requests a minute with one key; 0 is no limit.")
    address_rate_per_minute: int = number(
        60_000, 0, 10_000_000, "Rate limit: requests a minute without a valid key from one address; 0 is no limit."
    )
    failures_per_minute: int = number(
        60, 0, 10_000_000, "Rate limit: requests a minute with a wrong key from one address; 0 is no limit."
    )
    max_connections: int = number(
        500, 1, 100_000, "Maximum connections at once; one more closes the connection that is idle longest."
    )
    header_seconds: float = number(
        10.0, 0.1, 3600, "Timeout in seconds for the head of a request, and between two pieces of its body."
    )
    mem0: Literal["on", "off"] = choice("on", ("off",), "Whether the routes that mem0's client calls are served.")
    drain_seconds: float = number(
        -1.0, -1, 3600, "How long SIGTERM fails `/readyz` before connections are refused; -1: 5 on PostgreSQL, else 0."
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DaemonSettings:
    """How often `recollectum serve` runs upkeep, and what it does for other processes."""

    consolidation_seconds: float = number(
        60.0, 0.1, 86_400, "Seconds between two scans for conversations that are idle or have grown long."
    )
    indexing_seconds: float = number(30.0, 0.1, 86_400, "Seconds between two scans for chunks without a vector.")
    retention_minutes: float = number(60.0, 0.01, 10_080, "Minutes between two scans for memories past a deadline.")
    watch_seconds: float = number(1.0, 0.05, 3600, "Seconds between two scans of watched files.")
    backup_hours: float = number(0.0, 0.0, 8760, "Hours between two backups of the home; 0 makes none.")
    lease_seconds: float = number(
        60.0, 0.5, 3600, "Seconds until another server takes over the upkeep of one that died; renewed while it works."
    )
    share_embedder: Literal["on", "off"] = choice(
        "on", ("off",), "Whether other processes let the daemon embed their texts, instead of loading the model."
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RedactionSettings:
    """What happens to a secret in a text; it never reaches a vault."""

    keep: Literal["off", "credentials"] = choice(
        "off", ("credentials",), "Whether secrets are kept in the credential store, with a reference in the text."
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LogSettings:
    """What is written to the log of the home; never content, queries or secrets."""

    level: Literal["error", "off", "info", "debug"] = choice(
        "error",
        ("off", "info", "debug"),
        "Detail of the log: only unexpected errors, also what was done, or everything.",
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TelemetrySettings:
    """What is measured for operators; never content or names, and nothing is sent by Recollectum itself."""

    spans: Literal["off", "on"] = choice(
        "off", ("on",), "Whether operations and transactions are OpenTelemetry spans; needs the extra `server`."
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Settings:
    """All settings in force."""

    isolation: Literal["user", "agent"] = choice(
        "user", ("agent",), "Whether all agents of a person share one vault, or each has its own."
    )
    encryption: Literal["auto", "off"] = choice(
        "auto", ("off",), "Whether vaults are encrypted; `off` leaves new ones readable by anyone who has the file."
    )
    key_file: str = text(
        "",
        is_key_file,
        "an absolute path, a path below ~/, or empty",
        "The key file; empty is this system's default place.",
    )
    default_user: str = text(
        "", is_user, "a name, or empty", "The user when none is named; empty is the account's name."
    )
    storage: StorageSettings = field(default_factory=StorageSettings)
    lifecycle: LifecycleSettings = field(default_factory=LifecycleSettings)
    sessions: SessionSettings = field(default_factory=SessionSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    rerank: RerankSettings = field(default_factory=RerankSettings)
    language_model: LanguageModelSettings = field(default_factory=LanguageModelSettings)
    notes: NotesSettings = field(default_factory=NotesSettings)
    learnings: LearningsSettings = field(default_factory=LearningsSettings)
    transcripts: TranscriptSettings = field(default_factory=TranscriptSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    consolidation: ConsolidationSettings = field(default_factory=ConsolidationSettings)
    tasks: TaskSettings = field(default_factory=TaskSettings)
    daemon: DaemonSettings = field(default_factory=DaemonSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    redaction: RedactionSettings = field(default_factory=RedactionSettings)
    log: LogSettings = field(default_factory=LogSettings)
    telemetry: TelemetrySettings = field(default_factory=TelemetrySettings)
