"""Makes a labelled set of facts that change: the newest version answers, unless a question asks for the past.

Subjects share words and halves of names, most facts are about other subjects, and relations have several phrasings.
Five categories of questions: `changed` (the statements and the question in one phrasing), `reworded` (a version or the
question in another phrasing), `steady` (never changed), `past` (the first or an earlier version), and `both` (several
things that are true at once).
"""

import gzip
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from bench.facts_names import Names
from recollectum.text.tokens import estimate

_RELATIONS = Path(__file__).with_name("facts_relations.txt")
#: How many in a hundred facts change 0, 1, 2, 3 and 4 times.
_CHANGES = (40, 30, 15, 10, 5)
_VALUES_AT_ONCE = (2, 3, 4)
#: One changed fact in this many has a version in another phrasing.
_REWORDED_SHARE = 3
#: Questions of each category, as far as there are facts for them.
QUESTIONS = {"changed": 240, "reworded": 120, "steady": 60, "past": 80, "both": 80}
#: One relation in this many is about a subject that has another relation, or is the value of another fact.
_KNOWN_SUBJECT_SHARE = 2
_PREVIOUS = ("before", "previously")


@dataclass(frozen=True, slots=True)
class Relation:
    """One kind of fact."""

    subject: str
    value: str
    many: bool
    #: The phrasings of a statement, each with the question in its words.
    statements: dict[str, str] = field(default_factory=dict[str, str])
    past: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class Fact:
    """A subject, a relation, and its values in order; each value has the phrasing of its statement."""

    subject: str
    relation: Relation
    versions: list[tuple[str, str]]
    #: The ids of its statements, in the order of the versions.
    ids: list[str] = field(default_factory=list[str])

    @property
    def category(self) -> str:
        """Return the category of questions in the words of the first version."""
        if self.relation.many:
            return "both"
        if len(self.versions) == 1:
            return "steady"
        return "changed" if len({phrasing for _, phrasing in self.versions}) == 1 else "reworded"

    def statement(self, version: int) -> str:
        """Return the sentence that states one version."""
        value, phrasing = self.versions[version]
        text = phrasing.format(s=self.subject, v=value)
        return text[0].upper() + text[1:]


@cache
def relations() -> tuple[Relation, ...]:
    """Return the relations of the file."""
    found: list[Relation] = []
    for line in _RELATIONS.read_text(encoding="utf-8").splitlines():
        mark, _, rest = line.partition(" ")
        if mark == "relation":
            subject, value, number = rest.split()
            found.append(Relation(subject, value, number == "many"))
        elif mark == "s:":
            statement, _, question = rest.partition(" | ")
            found[-1].statements[statement] = question
        elif mark == "p:":
            found[-1].past.append(rest)
    return tuple(found)


def write_facts(folder: Path, tokens: int, seed: int) -> Path:
    """Write a set of about so many tokens in all statements together; the same seed gives the same set."""
    draw = random.Random(f"{seed} {tokens}")
    facts = list(_facts(draw, tokens))
    units = _in_order(draw, facts)
    folder.mkdir(parents=True, exist_ok=True)
    with gzip.open(folder / "units.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(unit) + "\n" for unit in units)
    with (folder / "queries.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(query) + "\n" for query in _queries(draw, facts))
    return folder


def _facts(draw: random.Random, tokens: int) -> Iterator[Fact]:
    names = Names(draw)
    taken: set[tuple[str, int]] = set()
    while tokens > 0:
        place = draw.randrange(len(relations()))
        relation = relations()[place]
        known = names.known[relation.subject]
        old = known and draw.randrange(_KNOWN_SUBJECT_SHARE) == 0
        subject = draw.choice(known) if old else names.new(relation.subject)
        if (subject, place) in taken:
            continue
        taken.add((subject, place))
        fact = Fact(subject, relation, _versions(draw, relation, names, subject))
        tokens -= sum(estimate(fact.statement(version)) for version in range(len(fact.versions)))
        yield fact


def _versions(draw: random.Random, relation: Relation, names: Names, subject: str) -> list[tuple[str, str]]:
    count = draw.choice(_VALUES_AT_ONCE) if relation.many else 1 + draw.choices(range(len(_CHANGES)), _CHANGES)[0]
    values: list[str] = []
    while len(values) < count:
        value = names.any(relation.value)
        if value not in values and value != subject:
            values.append(value)
    every = list(relation.statements)
    usual = draw.choice(every)
    phrasings = [usual] * count
    if relation.many or draw.randrange(_REWORDED_SHARE) == 0:
        phrasings = [draw.choice(every) for _ in values]
        if not relation.many and count > 1:
            phrasings[-1] = draw.choice([one for one in every if one != phrasings[-2]])
    return list(zip(values, phrasings, strict=True))


def _in_order(draw: random.Random, facts: list[Fact]) -> list[dict[str, object]]:
    """Return the statements of all facts, mixed, with the versions of each fact in their order."""
    places = [fact for fact in facts for _ in fact.versions]
    draw.shuffle(places)
    units: list[dict[str, object]] = []
    for number, fact in enumerate(places):
        text = fact.statement(len(fact.ids))
        fact.ids.append(str(number))
        units.append({"ns": "all", "id": str(number), "session": "S0", "speaker": "log", "text": text})
    return units


def _queries(draw: random.Random, facts: list[Fact]) -> Iterator[dict[str, object]]:
    wanted = dict(QUESTIONS)
    for fact in draw.sample(facts, len(facts)):
        category, gold, form = fact.category, fact.ids[-1:], fact.relation.statements[fact.versions[0][1]]
        if category in ("changed", "reworded") and fact.relation.past and draw.random() < _share_of_past(wanted):
            category, form = "past", draw.choice(fact.relation.past)
        elif category == "changed" and draw.randrange(_REWORDED_SHARE) == 0:
            category, form = "reworded", draw.choice([one for one in fact.relation.statements.values() if one != form])
        if not wanted[category]:
            continue
        wanted[category] -= 1
        if category == "past":
            gold = fact.ids[:-1] if any(word in form for word in _PREVIOUS) else fact.ids[:1]
        elif category == "both":
            gold = fact.ids
        number = QUESTIONS[category] - wanted[category]
        text = form.format(s=fact.subject)
        yield {"ns": "all", "id": f"{category}-{number}", "category": category, "text": text, "gold": gold}


def _share_of_past(wanted: dict[str, int]) -> float:
    """Return how likely a changed fact is asked for its past, so that both kinds of questions are filled together."""
    rest = wanted["changed"] + wanted["reworded"] + wanted["past"]
    return wanted["past"] / rest if rest else 0.0
