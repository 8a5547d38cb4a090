"""A chat and all that happens beside it ask one model, which is opened once and closed with the home."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from recollectum.domain.message import Json
from recollectum.domain.models.language_model import Prompt
from recollectum.doors.cli.chat.conversation import open_chat_home
from recollectum.doors.cli.terminal.flags import Run
from recollectum.models.registry import language
from recollectum.testing import ScriptedModel

SCRIPTED = {"RECOLLECTUM_LANGUAGE_MODEL__PROVIDER": "scripted"}


def answer(prompt: Prompt) -> str | Mapping[str, Json]:
    return "hello" if prompt.schema is None else {"findings": []}


@pytest.mark.feature("A17")
def test_chat_and_consolidation_share_one_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[ScriptedModel] = []
    keys: list[str | None] = []

    def make(*_: object, secret: language.Secret, **__: object) -> ScriptedModel:
        made.append(ScriptedModel(answer))
        # A key in the credential store is found, as for everything else.
        keys.append(secret("OPENAI_API_KEY"))
        return made[-1]

    monkeypatch.setattr(language, "open_language_model", make)
    run = Run(home=str(tmp_path / "home"), environ=SCRIPTED)
    place = open_chat_home(run, "main")
    with place.closes:
        chat = place.vault.sessions.open(channel="main")
        chat.add("user", "I live in Oslo.")
        assert place.vault.admin.consolidation.run(chat.id).trouble is None
        assert [place.model] == made
        assert len(made[0].prompts) == 1
        assert not made[0].closed
    assert made[0].closed
    assert keys == [None]
    # Another opening is another home, with a model of its own.
    with open_chat_home(run, "main").closes:
        assert len(made) == 2
    assert all(model.closed for model in made)


def test_without_a_model_there_is_none(tmp_path: Path) -> None:
    place = open_chat_home(Run(home=str(tmp_path / "home"), environ={}), "main")
    with place.closes:
        assert place.model is None
