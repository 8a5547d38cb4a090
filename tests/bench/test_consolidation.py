"""The benchmark of consolidation: its set, its matching, its figures, and floors that a change for the worse breaks."""

import json

import pytest

from bench import consolidation
from bench.consolidation_set.conversations import HALVES, SORTS, Conversation, Label, Unreadable, conversations, parse
from bench.consolidation_set.figures import ALL, CHANGED, figures, measure
from bench.consolidation_set.matching import Verdict, judge, says
from bench.consolidation_set.script import RIGHT, SHARES, Script
from recollectum.distil.pipeline import distil
from recollectum.domain.memory import Kind
from recollectum.domain.proposal import Act, Finding, Span
from tests.distil.said import message

TALK = """\
# a talk
known: I live in Oslo.
u: We moved to Lyon, not Nice. I swim.
  + fact replaces 1: We moved to Lyon ~ The person moved to Lyon.
  ? preference: I swim
a: Lyon is lovely.
  - assistant: Lyon is lovely
u: I don't eat pork since last year, Tom eats it.
  + preference: I don't eat pork since last year ~ The person eats no pork since last year.
  - other: Tom eats it
"""


def talk(text: str = TALK) -> Conversation:
    (found,) = parse(text.splitlines(), "talk.txt")
    return found


def finding(
    content: str, place: int = 1, *, kind: Kind = Kind.FACT, start: int = 0, end: int = 9, target: str = ""
) -> Finding:
    return Finding(
        act=Act.SUPERSEDE if target else Act.ADD,
        content=content,
        kind=kind,
        importance=0.5,
        spans=(Span(f"msg_{place}", start, end),),
        targets=(target,) if target else (),
    )


def test_a_talk_is_read_with_its_labels_and_traps() -> None:
    found = talk()
    assert (found.title, found.known) == ("a talk", ["I live in Oslo."])
    assert [one.letter for one in found.turns] == ["u", "a", "u"]
    assert [len(one.labels) for one in found.turns] == [2, 0, 1]
    assert found.turns[0].labels[0] == Label(
        kind="fact", words="We moved to Lyon", wording="The person moved to Lyon.", replaces=1
    )
    assert found.turns[2].traps[0].sort == "other"


@pytest.mark.parametrize(
    "line",
    [
        "u:no space",
        "  + fact: not said there",
        "  + wish: We moved to Lyon",
        "  + fact replaces 2: We moved to Lyon",
        "  - nonsense: We moved to Lyon",
        "  We moved to Lyon",
    ],
)
def test_a_line_that_breaks_the_form_is_refused_with_its_number(line: str) -> None:
    with pytest.raises(Unreadable, match=r"talk\.txt, line 4"):
        talk("\n".join([*TALK.splitlines()[:3], line]))


LYON = Label(kind="fact", words="We moved to Lyon", wording="The person moved to Lyon.")
PORK = Label(kind="preference", words="I don't eat pork since last year", wording="The person eats no pork.")


@pytest.mark.parametrize(
    ("content", "label", "same"),
    [
        ("We moved to Lyon, not Nice.", LYON, True),
        ("The person has moved to Lyon", LYON, True),
        ("moved Lyon", LYON, True),
        # Another name, one more, a number more, half of it, the contrary.
        ("We moved to Paris", LYON, False),
        ("We moved to Lyon from Paris", LYON, False),
        ("We moved to Lyon in 1999", LYON, False),
        ("We moved", LYON, False),
        ("The person has not moved to Lyon", LYON, False),
        ("I don't eat pork since 2025", PORK, True),
        ("The person eats no pork", PORK, True),
        ("The person eats pork", PORK, False),
    ],
)
def test_a_proposal_says_a_label_or_not(content: str, label: Label, *, same: bool) -> None:
    said = message(1, "u", "We moved to Lyon, not Nice. I don't eat pork since last year.")
    assert says(finding(content), label, said) is same
    assert not says(finding(content, place=2), label, said), "another turn"


def test_verdicts_and_figures_are_counted() -> None:
    judgement = judge(
        talk(),
        [
            finding("We moved to Lyon", target="mem_1"),
            finding("moved to Lyon, we"),
            finding("I swim", kind=Kind.PREFERENCE),
            finding("Lyon is lovely", 2),
            finding("Tom eats it", 3, start=34, end=45),
            finding("something else", 3),
        ],
    )
    verdicts = [(one.verdict, one.trap) for one in judgement.proposals]
    assert verdicts == [
        (Verdict.RIGHT, ""),
        (Verdict.REPEATED, ""),
        (Verdict.ALLOWED, ""),
        (Verdict.WRONG, "assistant"),
        (Verdict.WRONG, "other"),
        (Verdict.WRONG, ""),
    ]
    found = figures([judgement])
    row = found.rows[ALL]
    assert (row.right, row.proposed, row.found, row.wanted) == (1, 5, 1, 2)
    assert (row.precision, row.recall, round(row.f1, 4)) == (0.2, 0.5, 0.2857)
    assert (found.rows[CHANGED].right, found.rows[CHANGED].found) == (1, 1)
    assert found.rows["preference"].recall == 0
    assert (found.repeated, found.kinds) == (1, 1)


def test_a_change_must_name_the_memory_that_it_replaces() -> None:
    for one in (finding("We moved to Lyon"), finding("We moved to Lyon", target="mem_2")):
        found = figures([judge(talk(), [one])])
        assert (found.rows[ALL].found, found.rows[CHANGED].found) == (1, 0)


def test_the_set_is_large_enough_and_varied() -> None:
    halves = {half: conversations(half) for half in HALVES}
    every = [one for half in halves.values() for one in half]
    turns = [turn for one in every for turn in one.turns]
    assert len(every) >= 60
    assert len(turns) >= 400
    assert len({one.title for one in every}) == len(every)
    assert all(len(half) >= 30 for half in halves.values())
    assert {trap.sort for turn in turns for trap in turn.traps} >= set(SORTS) - {"question"}
    asked = sum(turn.letter == "u" for turn in turns)
    assert sum(turn.letter == "u" and not turn.labels for turn in turns) > asked / 3


#: Below what was measured by a few labels: (precision, recall) of the rules on each half.
RULES_FLOOR = {"tuned": (0.90, 0.48), "held": (0.78, 0.25)}


@pytest.mark.parametrize("half", HALVES)
def test_the_rules_keep_their_precision_and_recall(half: str) -> None:
    row = measure(conversations(half), consolidation.by_rules).rows[ALL]
    precision, recall = RULES_FLOOR[half]
    assert row.precision >= precision
    assert row.recall >= recall


def test_rules_that_find_nothing_or_everything_are_below_the_floor() -> None:
    half = conversations("tuned")
    assert measure(half, lambda _: ()).rows[ALL].recall == 0

    def every_turn(one: Conversation) -> list[Finding]:
        return [finding(turn.text, place) for place, turn in enumerate(one.turns, start=1)]

    assert measure(half, every_turn).rows[ALL].precision < RULES_FLOOR["tuned"][0] / 2


@pytest.mark.parametrize("half", HALVES)
def test_the_pipeline_keeps_what_a_model_says_rightly_and_stops_what_it_invents(half: str) -> None:
    made = consolidation.scripted(conversations(half), rounds=2)
    proposals = [one for judgement in made.judgements for one in judgement.proposals]
    right = [one for one in proposals if one.finding.reason in RIGHT]
    assert len(right) == sum(made.given[sort] for sort in RIGHT)
    assert all(one.verdict is Verdict.RIGHT for one in right)
    assert sum(one.finding.certain for one in right) > 0.8 * len(right)
    by_sort = {sort: [one for one in proposals if one.finding.reason == sort] for sort in made.given}
    for sort in ("with an invented quotation", "said a second time", "a known memory"):
        assert made.given[sort], sort
        assert not by_sort[sort], sort
    for sort in ("with a changed detail", "a claim that nobody made"):
        assert made.given[sort], sort
        assert not any(one.finding.certain for one in by_sort[sort]), sort


def test_the_script_is_the_same_each_time_and_keeps_its_shares() -> None:
    assert sum(SHARES.values()) == pytest.approx(1)
    half = conversations("tuned")
    first, again = (consolidation.scripted(half, rounds=1) for _ in range(2))
    assert first.given == again.given
    other = Script(half[0], seed=1)
    distil(half[0].messages(), half[0].memories(), model=other.model())
    assert other.given.total() > 0


def test_the_figures_are_printed_as_a_table_and_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(consolidation, "_ROUNDS", 1)
    consolidation.main(["--show"])
    shown = capsys.readouterr().out
    assert "| instruction |" in shown
    assert "missed fact: " in shown
    consolidation.main(["--json"])
    found = json.loads(capsys.readouterr().out)
    assert set(found["readers"]) == {"rules", "scripted model", "scripted model, without approval"}
    assert 0 < found["readers"]["rules"]["held"]["rows"]["all"]["recall"] < 1
