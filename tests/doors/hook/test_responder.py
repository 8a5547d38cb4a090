"""A prompt is answered by meaning where that is there in time, and else by its words."""

import json
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import ModelUnavailable
from recollectum.domain.models.embedder import Purpose
from recollectum.doors.hook.log import log_file
from recollectum.doors.hook.responder import HookRequest, make_responder
from recollectum.models.embedding.port import Vectors
from recollectum.testing import ScriptedEmbedder

_SYNONYMS = {"hound": "dog"}


class Held(ScriptedEmbedder):
    """An embedder that answers questions only once it is let go."""

    def __init__(self) -> None:
        super().__init__(synonyms=_SYNONYMS)
        self.go = threading.Event()

    def embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        if purpose is Purpose.QUERY:
            assert self.go.wait(60)
        return super().embed(texts, purpose)


def asked(prompt: str, seconds: float | None) -> HookRequest:
    fields = {"hook_event_name": "UserPromptSubmit", "session_id": "talk-1", "prompt": prompt}
    by = None if seconds is None else time.time() + seconds
    return HookRequest(agent="claude-code", fields=fields, user="ada", answer_by=by)


def told(answer: Mapping[str, object]) -> str:
    return json.dumps(answer)


@pytest.fixture
def embedded(home: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_EMBEDDING__PROVIDER", "local")


@pytest.mark.usefixtures("embedded")
def test_a_model_that_is_busy_costs_the_meaning_and_not_the_answer() -> None:
    held = Held()
    with Recollectum(embedder=held) as recollectum:
        recollectum.vault("user:ada").memories.save("the dog sleeps in the blue basket")
        answering = make_responder(recollectum)
        assert "blue basket" in told(answering.answer(asked("where is the basket?", 0.3)))
        assert not held.go.is_set()
        held.go.set()
        answering.close()


@pytest.mark.usefixtures("embedded")
def test_a_model_that_is_in_time_is_heard() -> None:
    with Recollectum(embedder=ScriptedEmbedder(synonyms=_SYNONYMS)) as recollectum:
        vault = recollectum.vault("user:ada")
        vault.memories.save("the dog sleeps in the blue basket")
        vault.admin.index.update()
        answering = make_responder(recollectum)
        # No word of it stands there.
        assert "blue basket" in told(answering.answer(asked("hound?", 60)))
        answering.close()


@pytest.mark.usefixtures("embedded")
def test_a_model_that_fails_leaves_the_words() -> None:
    failing = ScriptedEmbedder(fail=lambda _texts, _purpose: ModelUnavailable("it is away"))
    with Recollectum(embedder=failing) as recollectum:
        recollectum.vault("user:ada").memories.save("the dog sleeps in the blue basket")
        answering = make_responder(recollectum)
        assert "blue basket" in told(answering.answer(asked("where is the basket?", 60)))
        answering.close()


def _from(agent: str, prompt: str) -> HookRequest:
    fields = {"hook_event_name": "UserPromptSubmit", "session_id": f"{agent}-1", "prompt": prompt}
    return HookRequest(agent=agent, fields=fields, user="ada")


@pytest.mark.usefixtures("home")
def test_the_next_answer_tells_once_that_a_secret_was_replaced() -> None:
    token = "ghp_" + "aB3d" * 9
    with Recollectum() as recollectum:
        recollectum.vault("user:ada")
        answering = make_responder(recollectum)
        assert "systemMessage" not in answering.answer(_from("claude-code", f"deploy it with {token}"))
        answering.answer(_from("cursor", f"and from here with {token}"))
        # Waits for what is recorded in the background.
        answering.close()
        second = answering.answer(_from("claude-code", "what now?"))
        assert second["systemMessage"] == "Recollectum: 1 secret was replaced: github-token."
        assert "systemMessage" not in answering.answer(_from("claude-code", "and now?"))
        # The format of this agent has no field for a person to read, so only the log tells it.
        assert "replaced" not in told(answering.answer(_from("cursor", "what now?")))
        answering.close()
        log = log_file(recollectum.home).read_text()
    assert log.count("record 1 secret was replaced: github-token\n") == 2
    assert token not in log


@pytest.mark.usefixtures("home")
@pytest.mark.feature("C14")
def test_the_working_directory_of_an_agent_is_its_project(tmp_path: Path) -> None:
    def event(name: str, prompt: str, **fields: object) -> HookRequest:
        said = {"hook_event_name": "UserPromptSubmit", "session_id": f"talk-{name}", "prompt": prompt, **fields}
        return HookRequest(agent="claude-code", fields=said, user="ada")

    for name in ("blue", "red"):
        (tmp_path / name / ".git").mkdir(parents=True)
        (tmp_path / name / "src").mkdir()
    places: dict[str, dict[str, object]] = {
        "blue": {"cwd": str(tmp_path / "blue")},
        "red": {"workspace_roots": [str(tmp_path / "red")]},
        "elsewhere": {"cwd": str(tmp_path)},
        "nowhere": {},
    }
    with Recollectum() as recollectum:
        vault = recollectum.vault("user:ada")
        answering = make_responder(recollectum)
        for name in ("blue", "red"):
            answering.answer(event(name, f"the {name} build uses bazel", cwd=str(tmp_path / name / "src")))
        answering.close()
        assert [one.project.name for one in vault.projects.list()] == ["blue", "red"]
        assert [one.counts.sessions for one in vault.projects.list()] == [1, 1]
        for name in ("blue", "red"):
            vault.memories.save(f"The {name} build takes an hour", project=name)
        said = {
            place: told(answering.answer(event(f"new-{place}", "how long does the build take?", **fields)))
            for place, fields in places.items()
        }
        answering.close()
    seen = {place: {name for name in ("blue", "red") if f"{name} build" in text} for place, text in said.items()}
    assert seen == {"blue": {"blue"}, "red": {"red"}, "elsewhere": set(), "nowhere": set()}
