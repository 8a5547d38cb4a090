"""Opens the language model that the settings name, inside its limits; it loads with the first prompt."""

from collections.abc import Callable, Mapping

from recollectum.domain.errors import SettingsError
from recollectum.domain.ids import Clock, system_clock
from recollectum.domain.models.language_model import ModelIdentity
from recollectum.domain.records import dataclass
from recollectum.home.paths import Home
from recollectum.models.embedding import gemini, openai
from recollectum.models.http.client import Connect, JsonClient, KeyHeaders, connect, provider_access
from recollectum.models.http.endpoint import endpoint
from recollectum.models.language import anthropic
from recollectum.models.language.costs import Prices
from recollectum.models.language.gemini import GeminiDialect
from recollectum.models.language.llama import LlamaModel, LlamaOptions, find_model, need_runtime
from recollectum.models.language.openai import ChatDialect, OpenAiDialect, RequestStyle
from recollectum.models.language.port import LanguageModel
from recollectum.models.language.remote import ChatModel
from recollectum.models.language.rule_model import RuleModel
from recollectum.models.language.structured import StructuredModel
from recollectum.models.limits.budget import (
    BudgetedModel,
    ConcurrencyLimitedModel,
    DailyBudget,
    DailyLimits,
    SpendingAccount,
)
from recollectum.models.limits.retry import RetryingModel, RetryPolicy
from recollectum.settings.model import LanguageModelSettings
from recollectum.settings.registry import nearest

#: Finds a key by the name of its variable if the environment does not have it.
Secret = Callable[[str], str | None]

SECTION = "language_model"
_MILLION = 1_000_000
_USUAL = RequestStyle()
_COMPLETIONS = OpenAiDialect()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Provider:
    """The defaults of a provider."""

    base_url: str
    #: Sent to the provider's own address only: another server must not get the key by default.
    key_variable: str = ""
    #: The model name for a server that has only one.
    model: str = ""
    manner: RequestStyle = _USUAL
    dialect: ChatDialect = _COMPLETIONS
    key_headers: KeyHeaders = openai.key_headers
    #: Whether it runs on the person's machine, which costs nothing.
    own: bool = False


#: By the name in `language_model.provider`.
LANGUAGE_PROVIDERS = {
    "openai": _Provider(
        base_url=openai.BASE_URL,
        key_variable=openai.KEY_VARIABLE,
        manner=RequestStyle(limit_name="max_completion_tokens"),
    ),
    # Both also speak OpenAI's dialect, with fewer features; a person who needs it can use `openai` with any address.
    "gemini": _Provider(
        base_url=gemini.BASE_URL,
        key_variable=gemini.KEY_VARIABLE,
        dialect=GeminiDialect(),
        key_headers=gemini.key_headers,
    ),
    "anthropic": _Provider(
        base_url=anthropic.BASE_URL,
        key_variable=anthropic.KEY_VARIABLE,
        dialect=anthropic.AnthropicDialect(),
        key_headers=anthropic.key_headers,
    ),
    "openrouter": _Provider(base_url="https://openrouter.ai/api/v1", key_variable="OPENROUTER_API_KEY"),
    "ollama": _Provider(base_url="http://127.0.0.1:11434/v1", own=True),
    "vllm": _Provider(base_url="http://127.0.0.1:8000/v1", own=True),
    "llamacpp": _Provider(base_url="http://127.0.0.1:8080/v1", model="default", own=True),
    "lmstudio": _Provider(base_url="http://127.0.0.1:1234/v1", own=True),
}


def open_language_model(
    settings: LanguageModelSettings,
    environ: Mapping[str, str],
    *,
    home: Home | None = None,
    clock: Clock = system_clock,
    secret: Secret | None = None,
    connect: Connect = connect,
) -> LanguageModel | None:
    """Return the language model of these settings, or None if it is off.

    Nothing is loaded or requested yet. Usage is counted in the home, so a budget needs a home. A ModelError means that
    the model is not available now, a SettingsError that it never is with these settings.
    """
    match settings.provider:
        case "none":
            return None
        case "scripted":
            found: LanguageModel = RuleModel()
        case "local":
            found = ConcurrencyLimitedModel(_local(settings), 1)
        case name if name in LANGUAGE_PROVIDERS:
            found = ConcurrencyLimitedModel(_remote(name, settings, environ, secret, connect), settings.concurrency)
        case name:
            near = nearest(name, ("none", "local", "scripted", *LANGUAGE_PROVIDERS))
            raise SettingsError(f"{SECTION}.provider is {name!r}, which is not a provider; the nearest is {near!r}")
    # Each attempt is reserved, and a repair is a call like any other.
    patience = RetryPolicy(attempts=settings.retries + 1, total_seconds=6 * settings.timeout_seconds)
    return StructuredModel(RetryingModel(_within_budget(found, settings, home, clock), patience))


def prices(settings: LanguageModelSettings) -> Prices:
    """Return the token prices of these settings; a local model costs nothing unless they say so."""
    known = LANGUAGE_PROVIDERS.get(settings.provider)
    free = settings.provider in ("local", "scripted") or bool(known and known.own and not settings.base_url)
    usual = 0.0 if free else None
    return Prices(
        input=usual if settings.input_price < 0 else settings.input_price,
        output=usual if settings.output_price < 0 else settings.output_price,
        currency=settings.currency,
    )


def limits(settings: LanguageModelSettings) -> DailyLimits:
    """Return the daily limits of these settings."""
    return DailyLimits(
        calls=settings.calls_per_day,
        tokens=settings.tokens_per_day,
        micros=round(settings.money_per_day * _MILLION),
        currency=settings.currency,
    )


def _within_budget(
    model: LanguageModel, settings: LanguageModelSettings, home: Home | None, clock: Clock
) -> LanguageModel:
    budget = DailyBudget(limits=limits(settings), prices=prices(settings), max_output_tokens=settings.max_output_tokens)
    if home is None:
        if budget.limits:
            raise SettingsError(f"{SECTION} has a budget, which needs a home to be counted in; name one")
        return model
    # A model that costs nothing need not be counted unless a limit is set.
    if not budget.limits and settings.provider not in LANGUAGE_PROVIDERS:
        return model
    return BudgetedModel(model, SpendingAccount(home, clock), budget)


def _local(settings: LanguageModelSettings) -> LanguageModel:
    need_runtime()
    options = LlamaOptions(
        threads=settings.threads,
        window_tokens=settings.window_tokens,
        max_output_tokens=settings.max_output_tokens,
        timeout_seconds=settings.timeout_seconds,
    )
    return LlamaModel(find_model(settings.model), options)


def _remote(
    name: str,
    settings: LanguageModelSettings,
    environ: Mapping[str, str],
    secret: Secret | None,
    connect: Connect,
) -> LanguageModel:
    usual = LANGUAGE_PROVIDERS[name]
    model = settings.model or usual.model
    if not model:
        raise SettingsError(f"{SECTION}.model is empty; name the model that {name} uses")
    place = endpoint(settings.base_url or usual.base_url, plain_http=settings.plain_http == "anywhere", section=SECTION)
    variable = settings.key_variable or ("" if settings.base_url else usual.key_variable)
    key = environ.get(variable) or (secret(variable) if secret and variable else None) or ""
    let_in = provider_access(
        variable, {variable: key}, usual.key_headers, named=bool(settings.key_variable), section=SECTION
    )
    identity = ModelIdentity(provider=name, model=model, provider_key=place.provider_key(variable))
    wire = JsonClient(place, let_in, timeout_seconds=settings.timeout_seconds, connect=connect)
    return ChatModel(identity, wire, usual.dialect, max_output_tokens=settings.max_output_tokens, manner=usual.manner)
