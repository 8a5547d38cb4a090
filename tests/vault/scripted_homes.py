"""Homes whose language model is scripted: it finds what a test tells it to find."""

import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from recollectum import Recollectum
from recollectum.domain.ids import Clock
from recollectum.domain.message import Json
from recollectum.domain.models.language_model import Prompt
from recollectum.models.language.port import LanguageModel
from recollectum.testing import ScriptedModel
from tests.matrix.homes import open_home

_KNOWN = re.compile(r"^\[(\d+)\] (?:\| )?(.*)$", re.MULTILINE)


@contextmanager
def home_with(
    folder: Path, clock: Clock, model: LanguageModel | None, settings: Mapping[str, object] | None = None
) -> Generator[Recollectum]:
    """An open home that is given this model, whatever its settings say."""
    with open_home(folder, clock, settings=settings, language_model=model) as home:
        yield home


def found(content: str, quote: str, *, act: str = "add", target: int | None = None) -> dict[str, Json]:
    """One finding, as the model answers it."""
    return {
        "act": act,
        "content": content,
        "kind": "fact",
        "importance": 0.6,
        "quotes": [{"message": 1, "text": quote}],
        "target": target,
        "reason": "they said so",
    }


def finds(*findings: dict[str, Json]) -> dict[str, Json]:
    """An answer with these findings."""
    return {"findings": list(findings)}


def echoing(*facts: str, before: Callable[[], None] = lambda: None) -> ScriptedModel:
    """A model that finds each of these facts wherever a conversation says it in the same words."""

    def answer(prompt: Prompt) -> dict[str, Json]:
        before()
        said = prompt.turns[-1].text
        return finds(*(found(fact, fact) for fact in facts if fact in said.partition("<conversation")[2]))

    return ScriptedModel(answer)


def number_of(prompt: Prompt, content: str) -> int:
    """Under which number a prompt shows a known memory."""
    return next(int(number) for number, text in _KNOWN.findall(prompt.turns[-1].text) if text == content)
