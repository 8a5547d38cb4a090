"""Every model that the settings can name, what each needs, and which one is in use; nothing is loaded or sent."""

from pathlib import Path

import pytest

from recollectum.models.registry.choices import ModelChoice, ModelUse, list_choices
from recollectum.settings.model import (
    EmbeddingSettings,
    LanguageModelSettings,
    RecallSettings,
    RerankSettings,
    Settings,
)
from recollectum.settings.registry import all_settings

E, L, R = ModelUse.EMBEDDING, ModelUse.LANGUAGE, ModelUse.RERANK


def _found(settings: Settings | None = None, *keys: str, kept: str = "") -> dict[tuple[ModelUse, str], ModelChoice]:
    made = list_choices(settings or Settings(), dict.fromkeys(keys, "x"), lambda variable: variable == kept)
    assert [sum(one.active for one in made if one.use is use) for use in ModelUse] == [1, 1, 1]
    # Of several local embedders, the one that is in use.
    return {(one.use, one.provider): one for one in sorted(made, key=lambda one: one.active)}


def test_without_settings_the_installed_embedder_is_in_use_and_no_language_model() -> None:
    found = _found()
    assert (found[E, "local"].active, found[E, "local"].ready) == (True, True)
    assert found[L, "none"].active
    assert found[R, "off"].active
    assert found[L, "openai"].needs == "the key OPENAI_API_KEY and language_model.model"
    assert (found[L, "openai"].place, found[L, "openai"].paid) == ("api.openai.com", True)
    assert (found[L, "ollama"].place, found[L, "ollama"].paid) == ("this machine", False)
    assert found[E, "gemini"].needs == "the key GEMINI_API_KEY"


@pytest.mark.parametrize(("environ", "kept"), [("OPENAI_API_KEY", ""), ("", "OPENAI_API_KEY")])
def test_a_key_is_found_in_the_environment_and_among_the_credentials(environ: str, kept: str) -> None:
    settings = Settings(language_model=LanguageModelSettings(provider="openai", model="gpt-5-mini"))
    found = _found(settings, environ, kept=kept)[L, "openai"]
    assert found == ModelChoice(
        use=L, provider="openai", model="gpt-5-mini", active=True, place="api.openai.com", ready=True, paid=True
    )


def test_another_server_does_not_need_the_key_of_the_provider() -> None:
    away = LanguageModelSettings(provider="openai", model="m", base_url="https://models.example.org/v1")
    found = _found(Settings(language_model=away))[L, "openai"]
    assert (found.place, found.ready, found.needs) == ("models.example.org", True, "")
    here = EmbeddingSettings(provider="openai", base_url="http://127.0.0.1:9000/v1")
    found = _found(Settings(embedding=here))[E, "openai"]
    assert (found.place, found.ready, found.needs) == ("this machine", None, "a server at http://127.0.0.1:9000/v1")


def test_a_model_that_is_not_there_says_how_to_get_it(tmp_path: Path) -> None:
    missing = LanguageModelSettings(provider="local", model=str(tmp_path / "none.gguf"))
    found = _found(Settings(language_model=missing))[L, "local"]
    assert not found.ready
    assert "GGUF file" in found.needs
    assert _found(Settings(language_model=LanguageModelSettings(provider="scripted")))[L, "scripted"].active
    rerank = Settings(recall=RecallSettings(rerank="remote"), rerank=RerankSettings(model="m"))
    assert _found(rerank)[R, "remote"].needs == "rerank.base_url"


def test_every_provider_that_the_settings_accept_is_listed() -> None:
    named = {
        use: set(all_settings()[setting].spec.one_of) - {"auto", "scripted"}
        for use, setting in ((E, "embedding.provider"), (L, "language_model.provider"), (R, "recall.rerank"))
    }
    assert named == {use: {name for one, name in _found() if one is use} for use in ModelUse}
