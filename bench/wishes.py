"""Measures whether a standing wish ("I never check a bag") comes up for a request that it bears on, without its words.

Each of 60 people has six wishes among 170 facts, some of which share words with the requests. A wish is saved as a
memory of the kind `preference`, as one of no special kind, or said in a turn. Recall answers each request with the
lift of wishes and without it. Questions for facts, and requests that no wish of the person bears on, show what it
costs. The topics are from `wishes.txt`; no model was trained with them. The facts are those of all topics, and those
of `calibration_facts.txt`.
"""

import argparse
import os
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from bench.kept_vectors import KeptVectors
from bench.sizes import sized
from recollectum import Recollectum, Vault
from recollectum.domain.memory import Kind
from recollectum.domain.message import Role
from recollectum.domain.session import SessionKey
from recollectum.models.registry.embedding import open_embedder
from recollectum.recall import pipeline
from recollectum.settings.model import EmbeddingSettings
from recollectum.vault.intake.draft import Draft
from recollectum.vault.intake.new_message import NewMessage

_TOPICS = Path(__file__).with_name("wishes.txt")
_FACTS = Path(__file__).with_name("calibration_facts.txt")
_PEOPLE = 60
_WISHES = 6
#: Requests of other domains for each person.
_OTHERS = 4
#: How an answer is written bears on nearly every request.
_STYLES = frozenset({"answers", "writing"})
_SHOWN = 5
_TURNS = 6
_SETTINGS = {"encryption": "off", "storage.reserve_mib": 0, "lifecycle.active_days": 0, "embedding.provider": "local"}


@dataclass(frozen=True, slots=True)
class Topic:
    """A wish, as it is written and as it is said, requests that it bears on, and facts with words of the requests."""

    domain: str
    wish: str
    said: str
    requests: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Person:
    """The wishes of a person, the facts in their vault, and requests that none of the wishes bears on."""

    wishes: tuple[Topic, ...]
    facts: tuple[tuple[str, str], ...]
    others: tuple[str, ...]


@dataclass(slots=True)
class Tally:
    """How often the right text was among the first five: wishes, facts; and how often a wish came uncalled for."""

    wishes: list[bool]
    facts: list[bool]
    uncalled: list[bool]

    def cells(self) -> str:
        return " | ".join(f"{sum(one) / max(1, len(one)):.3f}" for one in (self.wishes, self.facts, self.uncalled))


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench wishes", description=__doc__)
    parser.parse_args(arguments)
    people = list(make_people(read_topics(), sized(_PEOPLE, 2)))
    print("| wishes are | lift | requests: wish in five | questions: fact in five | other requests: a wish in five |")
    print("|---|---|---:|---:|---:|")
    for name, fill in FILLS.items():
        for lift, found in measure(people, fill).items():
            print(f"| {name} | {lift} | {found.cells()} |", flush=True)


def read_topics() -> list[Topic]:
    """Return the topics of the file."""
    blocks = _TOPICS.read_text(encoding="utf-8").split("\n\n")[1:]
    return [_topic(block.strip().splitlines()) for block in blocks]


def make_people(topics: Sequence[Topic], count: int) -> Iterator[Person]:
    """Yield people, each with wishes of different domains; the same ones in every run."""
    chance = random.Random("wishes")
    general = [(fact, asked) for fact, asked in (line.split("\t") for line in _FACTS.read_text("utf-8").splitlines())]
    for _ in range(count):
        domains = chance.sample(sorted({one.domain for one in topics}), _WISHES)
        own = tuple(chance.choice([one for one in topics if one.domain == domain]) for domain in domains)
        foreign = [one for one in topics if one.domain not in {*domains, *_STYLES}]
        facts = [*general, *(fact for one in topics for fact in one.facts)]
        chance.shuffle(facts)
        yield Person(own, tuple(facts), tuple(one.requests[0] for one in chance.sample(foreign, _OTHERS)))


def measure(people: Sequence[Person], fill: Callable[[Vault, Person], dict[str, str]]) -> dict[str, Tally]:
    """Ask every person's vault with the lift and without it."""
    made = open_embedder(EmbeddingSettings(provider="local"), os.environ)
    if made is None:
        raise SystemExit("no local embedder is installed")
    found = {"without": Tally([], [], []), "with": Tally([], [], [])}
    with tempfile.TemporaryDirectory() as folder:
        environ = {"HOME": folder, "PATH": os.environ.get("PATH", "")}
        embedder = KeptVectors(made, Path(folder) / "vectors.db")
        with Recollectum(Path(folder) / "home", settings=_SETTINGS, environ=environ, embedder=embedder) as home:
            for number, person in enumerate(people):
                vault = home.vault(f"user:person{number}")
                ids = fill(vault, person)
                vault.admin.index.update(lambda _: None)
                for lift, tally in found.items():
                    off = mock.patch.object(pipeline, "is_request", return_value=False)
                    with off if lift == "without" else nullcontext():
                        _ask(vault, person, ids, tally)
    return found


def _ask(vault: Vault, person: Person, ids: dict[str, str], tally: Tally) -> None:
    for topic in person.wishes:
        tally.wishes += [ids[topic.wish] in _shown(vault, request) for request in topic.requests]
    own = {fact for topic in person.wishes for fact in topic.facts}
    tally.facts += [ids[fact] in _shown(vault, question) for fact, question in person.facts if (fact, question) in own]
    wishes = {ids[topic.wish] for topic in person.wishes if topic.domain not in _STYLES}
    tally.uncalled += [not wishes.isdisjoint(_shown(vault, request)) for request in person.others]


def _shown(vault: Vault, text: str) -> set[str]:
    return {hit.source.memory_id or hit.source.message_id or "" for hit in vault.recall(text, limit=_SHOWN)}


def _save(vault: Vault, person: Person, kind: Kind) -> dict[str, str]:
    """Save wishes and facts as memories, the wishes among the facts; return the id of each text."""
    drafts = [Draft(content=fact) for fact, _ in person.facts]
    for place, topic in enumerate(person.wishes):
        drafts.insert(25 * place, Draft(content=topic.wish, kind=kind))
    saved = vault.memories.save_many(drafts)
    return {draft.content: one.memory.id for draft, one in zip(drafts, saved, strict=True)}


def _say(vault: Vault, person: Person) -> dict[str, str]:
    """Say wishes and facts in sessions of a few turns; return the id of each turn by the text it stands for."""
    texts = [(fact, fact) for fact, _ in person.facts]
    for place, topic in enumerate(person.wishes):
        texts.insert(25 * place, (topic.wish, topic.said))
    ids: dict[str, str] = {}
    for number in range(0, len(texts), _TURNS):
        some = texts[number : number + _TURNS]
        chat = vault.sessions.open_key(SessionKey(topic=f"s{number}"))
        said = chat.add_many([NewMessage(role=Role.USER, content=text) for _, text in some])
        ids |= {key: message.id for (key, _), message in zip(some, said, strict=True)}
    return ids


FILLS: dict[str, Callable[[Vault, Person], dict[str, str]]] = {
    "memories of the kind preference": lambda vault, person: _save(vault, person, Kind.PREFERENCE),
    "memories of the kind fact": lambda vault, person: _save(vault, person, Kind.FACT),
    "turns": _say,
}


def _topic(lines: Sequence[str]) -> Topic:
    def of(name: str) -> list[str]:
        return [line.removeprefix(f"{name} ") for line in lines if line.startswith(f"{name} ")]

    facts = [one.split(" | ") for one in of("F")]
    pairs = tuple((fact, question) for fact, question in facts)
    return Topic(of("domain")[0], of("W")[0], of("S")[0], tuple(of("R")), pairs)
