"""The doctor names the embedding model, and says what is wrong with its package."""

import sys
from pathlib import Path

import pytest
import recollectum_embed

from recollectum.models.embedding.packages import MODEL_PACKAGES
from recollectum.settings.model import EmbeddingSettings
from recollectum.upkeep.doctor.home_checks import HealthFinding, Severity
from recollectum.upkeep.doctor.model_checks import embedding_model


def _found(**settings: str) -> HealthFinding:
    (found,) = embedding_model(EmbeddingSettings(**settings))  # pyright: ignore[reportArgumentType]
    assert found.topic == "search"
    return found


@pytest.mark.parametrize("provider", ["auto", "local"])
def test_the_model_that_is_used_and_the_others_that_are_installed_are_named(provider: str) -> None:
    found = _found(provider=provider)
    assert found.severity is Severity.FINE
    assert found.words.startswith(
        "semantic, by recollectum-embed on this machine, and by words; its files are as shipped; "
        "also installed: recollectum-embed-quick, gte-small"
    )
    assert _found(provider=provider, model="gte-small").words.startswith("semantic, by gte-small on this machine")


def test_without_the_first_choice_the_next_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "recollectum_embed", None)
    assert _found(provider="auto").words.startswith("semantic, by recollectum-embed-quick on this machine")
    monkeypatch.setitem(sys.modules, "recollectum_embed_quick", None)
    assert _found(provider="auto").words.startswith("semantic, by gte-small on this machine")


def test_without_any_model_it_is_a_note_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in MODEL_PACKAGES:
        monkeypatch.setitem(sys.modules, package.module, None)
    found = _found(provider="auto")
    assert (found.severity, found.words, found.cure) == (
        Severity.NOTE,
        "words only, because no embedding model is installed",
        "for semantic search run: pip install 'recollectum[local]'",
    )


def test_a_model_that_was_chosen_and_is_not_installed_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "recollectum_gte_small", None)
    found = _found(provider="auto", model="gte-small")
    assert (found.severity, found.words, found.cure) == (
        Severity.WARNING,
        "the local embedder needs recollectum_gte_small",
        "run: pip install recollectum-gte-small",
    )


def test_a_name_that_is_not_known_is_a_warning_with_the_known_ones() -> None:
    found = _found(provider="local", model="bge-small")
    assert (found.severity, found.words) == (
        Severity.WARNING,
        "embedding.model is 'bge-small', which the local embedder does not have",
    )
    assert all(package.model in (found.cure or "") for package in MODEL_PACKAGES)


def test_a_damaged_file_is_a_warning_with_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = tmp_path / "damaged.onnx"
    damaged.write_bytes(recollectum_embed.MODEL.read_bytes()[:-1])
    monkeypatch.setattr(recollectum_embed, "MODEL", damaged)
    found = _found(provider="local")
    assert (found.severity, found.words, found.cure) == (
        Severity.WARNING,
        f"{damaged} is not the file that was shipped",
        "run: pip install --force-reinstall --no-deps recollectum-embed",
    )


def test_words_alone_and_other_providers_are_named_too() -> None:
    assert _found(provider="none").words == "words only: embedding.provider is none"
    assert _found(provider="ollama").words == "semantic, and by words; texts are sent to the provider ollama"
