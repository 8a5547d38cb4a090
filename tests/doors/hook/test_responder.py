"""A prompt is answered by meaning where that is there in time, and else by its words."""

import json
import threading
import time
from collections.abc import Mapping, Sequence

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import ModelUnavailable
from recollectum.domain.models.embedder import Purpose
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
