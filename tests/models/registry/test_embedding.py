"""The embedder that settings ask for, what is said when it cannot be had, and what is not imported for it."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from recollectum.domain.errors import ModelRefused, SettingsError
from recollectum.domain.models.embedder import Purpose
from recollectum.models.embedding.local import LocalEmbedder
from recollectum.models.embedding.port import Embedder, Wrapper
from recollectum.models.registry.embedding import open_embedder
from recollectum.settings.model import EmbeddingSettings

pytestmark = pytest.mark.process

ENVIRON = {"OPENAI_API_KEY": "open-1", "GEMINI_API_KEY": "gem-1", "ONE": "1", "TWO": "2"}


def opened(settings: EmbeddingSettings) -> Embedder:
    found = open_embedder(settings, ENVIRON)
    assert found is not None
    return found


def bare(embedder: Embedder) -> Embedder:
    while isinstance(embedder, Wrapper):
        embedder = embedder.inner
    return embedder


@pytest.mark.feature("A17")
def test_none_is_none_and_auto_is_local_where_it_is_installed() -> None:
    assert open_embedder(EmbeddingSettings(provider="none"), {}) is None
    assert isinstance(bare(opened(EmbeddingSettings())), LocalEmbedder)


@pytest.mark.feature("A17")
@pytest.mark.parametrize("provider", ["auto", "local"])
@pytest.mark.parametrize("model", ["recollectum-embed", "recollectum-embed-quick", "gte-small"])
def test_each_local_model_is_chosen_by_its_name(provider: str, model: str) -> None:
    found = opened(EmbeddingSettings(provider=provider, model=model))
    assert isinstance(bare(found), LocalEmbedder)
    assert (found.identity.provider, found.identity.model) == ("local", model)


@pytest.mark.feature("A17")
@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("local", "recollectum-embed"),
        ("openai", "text-embedding-3-small"),
        ("gemini", "gemini-embedding-001"),
        ("ollama", "nomic-embed-text"),
    ],
)
def test_each_provider_has_a_usual_model_and_is_known_without_a_call(provider: str, model: str) -> None:
    identity = opened(EmbeddingSettings(provider=provider)).identity
    assert (identity.provider, identity.model) == (provider, model)
    assert "open-1" not in identity.text_key()


@pytest.mark.feature("G6")
def test_whatever_changes_a_vector_changes_the_identity() -> None:
    usual = EmbeddingSettings(provider="openai", key_variable="ONE")
    others = [
        replace(usual, provider="ollama"),
        replace(usual, model="other"),
        replace(usual, base_url="https://example.org/v1"),
        replace(usual, key_variable="TWO"),
        replace(usual, dimensions=256),
        EmbeddingSettings(provider="local"),
    ]
    keys = {opened(settings).identity.text_key() for settings in (usual, *others)}
    assert len(keys) == len(others) + 1


@pytest.mark.feature("G6")
def test_how_it_is_called_and_a_new_key_do_not_change_the_identity() -> None:
    usual = EmbeddingSettings(provider="openai")
    other = replace(usual, timeout_seconds=1.0, batch=1, concurrency=9, query_cache_entries=0)
    found = open_embedder(other, {"OPENAI_API_KEY": "a newer-one".replace(" ", "-")})
    assert found is not None
    assert found.identity == opened(usual).identity


def test_an_unknown_provider_is_answered_with_the_nearest() -> None:
    with pytest.raises(SettingsError, match="is 'olama', which is not a provider; the nearest is 'ollama'"):
        open_embedder(EmbeddingSettings(provider="olama"), {})


def test_a_model_that_the_local_embedder_does_not_have_is_refused() -> None:
    said = "which the local embedder does not have; use 'recollectum-embed', 'recollectum-embed-quick' or 'gte-small'"
    with pytest.raises(SettingsError, match=said):
        open_embedder(EmbeddingSettings(provider="local", model="bge-small"), {})


@pytest.mark.feature("A17")
@pytest.mark.parametrize(("provider", "variable"), [("openai", "OPENAI_API_KEY"), ("gemini", "GEMINI_API_KEY")])
def test_a_missing_key_is_named_by_its_variable(provider: str, variable: str) -> None:
    with pytest.raises(ModelRefused, match=f"the variable {variable} is not set"):
        open_embedder(EmbeddingSettings(provider=provider), {})


def test_an_open_address_is_refused_before_anything_is_sent() -> None:
    settings = EmbeddingSettings(provider="ollama", base_url="http://192.168.1.10:11434")
    with pytest.raises(SettingsError, match="without encryption"):
        open_embedder(settings, {})
    assert open_embedder(replace(settings, plain_http="anywhere"), {}) is not None


def test_a_repeated_query_is_not_computed_again() -> None:
    embedder = opened(EmbeddingSettings())
    first = embedder.embed(["what does she eat?"], Purpose.QUERY)
    # Closing gives the model back, so that a second computation would have to load it.
    embedder.close()
    second = embedder.embed(["what does she eat?"], Purpose.QUERY)
    local = bare(embedder)
    assert isinstance(local, LocalEmbedder)
    assert vars(local)["_loaded"] is None
    assert np.array_equal(first, second)


_WITHOUT = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
from recollectum.domain.errors import ModelMissing
from recollectum.models.registry.embedding import open_embedder
from recollectum.settings.model import EmbeddingSettings
try:
    found = open_embedder(EmbeddingSettings(provider={provider!r}, model={model!r}), {{"OPENAI_API_KEY": "k"}})
    print(found and found.identity.model)
except ModelMissing as error:
    print(error)
"""


_EVERY_MODEL = ["recollectum_embed", "recollectum_embed_quick", "recollectum_gte_small"]


@pytest.mark.parametrize(
    ("provider", "model", "missing", "said"),
    [
        ("auto", "", ["onnxruntime"], "None"),
        ("auto", "", _EVERY_MODEL, "None"),
        ("auto", "", ["recollectum_embed"], "recollectum-embed-quick"),
        ("local", "", ["recollectum_embed", "recollectum_embed_quick"], "gte-small"),
        ("local", "", ["recollectum_gte_small"], "recollectum-embed"),
        (
            "local",
            "",
            ["onnxruntime"],
            "the local embedder needs onnxruntime; run: pip install 'recollectum[local]'",
        ),
        (
            "local",
            "",
            ["tokenizers", *_EVERY_MODEL],
            "the local embedder needs tokenizers and recollectum_embed; run: pip install 'recollectum[local]'",
        ),
        (
            "local",
            "gte-small",
            ["recollectum_gte_small"],
            "the local embedder needs recollectum_gte_small; run: pip install recollectum-gte-small",
        ),
        (
            "auto",
            "recollectum-embed",
            ["recollectum_embed"],
            "the local embedder needs recollectum_embed; run: pip install 'recollectum[local]'",
        ),
        ("openai", "", ["numpy"], "vectors need numpy; run: pip install numpy numkong"),
        ("none", "", ["numpy", "onnxruntime", "tokenizers"], "None"),
    ],
)
def test_what_is_not_installed_is_named_with_the_command(
    provider: str, model: str, missing: list[str], said: str
) -> None:
    program = _WITHOUT.format(missing=missing, provider=provider, model=model)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == f"{said}\n"


def test_opening_an_embedder_imports_nothing_heavy() -> None:
    program = """
import sys
from recollectum.models.registry.embedding import open_embedder
from recollectum.settings.model import EmbeddingSettings
for provider in ("auto", "local", "openai", "gemini", "ollama"):
    assert open_embedder(EmbeddingSettings(provider=provider), {"OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k"})
print(*sorted({"numpy", "onnxruntime", "tokenizers", "http.client", "ssl", "concurrent.futures"} & set(sys.modules)))
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "\n"
