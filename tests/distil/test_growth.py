"""No function that reads what was said grows faster than its text, whatever the text is.

The patterns alone are looked at in tests/text/test_every_pattern.py; here are the functions around them, each with
texts of one thing over and over. Time is compared with that of a text a quarter as long, in the same run.
"""

import ast
import time
from collections.abc import Callable, Sequence

import pytest

from recollectum.distil import date_resolution, merge_proposals, pipeline, profile, reconciliation, screening, summary
from recollectum.distil.model import answers, choices, instructions
from recollectum.distil.rules import clauses, corrections, findings, standing_requests, statements
from recollectum.distil.sentences import Sentence, around, sentences
from recollectum.domain.message import Json, Message
from recollectum.domain.proposal import Act, Finding, Span
from recollectum.testing import ScriptedModel
from recollectum.text.tokens import counter_for
from tests.distil.said import AT, memory, message
from tests.shape.source import modules

pytestmark = pytest.mark.slow

_SIZE = 12_000
#: Times as long as a simple look at each letter of the text; what is quicker than that does not grow with the square.
_SUSPECT = 15
#: Four times the text takes four times as long, and sixteen times where it grows with the square.
_SQUARE = 9.0
UNITS = (
    *("a", "1", "A1", "a1_", " ", "\n", ".", "a. ", "A b. ", "é", "漢", "e\u0301", "'", '"a" ', "- ", "> ", "@"),
    *("I live in Oslo. ", "my name is A ", "no, it's a ", "not a but b ", "last monday ", "Dr. ", "a: ", "# A\n"),
    *("[; by ; trust: ", "<recalled-00000000>", "Ann keeps five red hens in town. ", "I said she said but "),
)


def _user(text: str) -> Message:
    return message(1, "u", text)


def _screened(text: str, *known: str) -> list[screening.Screened]:
    held = [memory(f"mem_{number}", one) for number, one in enumerate(known)]
    said = [message(1, "a", text), message(2, "u", text)]
    screen = screening.screen_for(said, held, barred=(), served=screening.ServedTexts(known))
    return screening.screen_messages(said, screen)


def _excerpts(text: str) -> Sequence[instructions.Excerpt]:
    return [instructions.Excerpt(screening.Screened(_user(text), text), 0, len(text))]


def _finding(text: str) -> Finding:
    return Finding(act=Act.ADD, content=text, kind=memory("m", "x").kind, importance=0.5, spans=(Span("msg_1", 0, 9),))


def _unit(text: str) -> str:
    """A part of the text that is in it over and over."""
    return text[:200]


def _rewritten(text: str) -> pipeline.Distilled:
    return pipeline.distil([_user(text)], [memory("m", _unit(text))], model=None, served=_served(text))


def _served(text: str) -> screening.ServedTexts:
    return screening.ServedTexts([_unit(text)])


def _barred(text: str) -> pipeline.Distilled:
    spans = [Span("msg_1", at, at + 5) for at in range(0, len(text), len(text) // 5 or 1)]
    return pipeline.distil([_user(text)], [], model=None, barred=spans)


def _answer(text: str) -> answers.VerifiedAnswer:
    quoted: dict[str, Json] = {"message": 1, "text": text[: len(text) // 2]}
    found: dict[str, Json] = {
        "act": "add",
        "target": None,
        "content": text[:900],
        "kind": "fact",
        "importance": 0.5,
        "reason": text,
        "quotes": [quoted, quoted],
    }
    screen = screening.screen_for([], [], barred=(), served=screening.ServedTexts())
    window = answers.ShownWindow(excerpts=_excerpts(text), known=(), screen=screen, imported=False, by="a model")
    return answers.verify_answer({"findings": [found]}, window)


#: By module and function: what is run with a text.
SCANS: dict[str, Callable[[str], object]] = {
    "date_resolution.resolve_dates": lambda t: date_resolution.resolve_dates(t, AT.date()),
    "merge_proposals.analyse": lambda t: merge_proposals.analyse([memory("a", t), memory("b", f"{t}b")]),
    "pipeline.distil": _rewritten,
    "pipeline.distil (barred)": _barred,
    "pipeline.first_prompts": lambda t: list(pipeline.first_prompts([_user(t)], [], model=ScriptedModel([]))),
    "profile.profile": lambda t: profile.profile([memory("a", t)], None),
    "reconciliation.words_of": reconciliation.words_of,
    "reconciliation.adds_detail": lambda t: reconciliation.adds_detail(
        reconciliation.words_of(t), reconciliation.words_of(f"{t}b")
    ),
    "reconciliation.are_alike": lambda t: reconciliation.are_alike(
        reconciliation.words_of(t), reconciliation.words_of(f"{t}b")
    ),
    "reconciliation.says_same": lambda t: reconciliation.says_same(t, f"{t}b"),
    "reconciliation.adds_name": lambda t: reconciliation.adds_name(t, t),
    "reconciliation.is_supported": lambda t: reconciliation.is_supported(t, t),
    "reconciliation.most_similar": lambda t: reconciliation.most_similar([memory("a", t)], t),
    "reconciliation.fit_tokens": lambda t: reconciliation.fit_tokens([memory("a", t)], 100),
    "reconciliation.reconcile": lambda t: reconciliation.reconcile([_finding(t)], [memory("a", f"{t}b")]),
    "screening.rendered_blocks": screening.rendered_blocks,
    "screening.repeats": lambda t: screening.EchoDetector([t]).repeats(f"{t}b"),
    "screening.places": lambda t: screening.EchoDetector([_unit(t)]).places(t),
    "screening.screen_for": lambda t: _screened(t, _unit(t)),
    "screening.screen_messages": lambda t: _screened(t, _unit(t), t),
    "screening.of": _screened,
    "screening.hides": lambda t: [
        one.hides(at.start, at.end) for one in _screened(f"b c d {t}", _unit(t)) for at in sentences(one.message.text)
    ],
    "sentences.sentences": lambda t: list(sentences(t)),
    "sentences.around": lambda t: around(t, len(t) // 2, len(t) // 2 + 1),
    "summary.extract_summary": lambda t: summary.extract_summary([_user(t)], 300, counter_for(None)),
    "summary.summarise": lambda t: summary.summarise(t, [_user(t)], None, 300),
    "answers.find": lambda t: answers.Quotable(t).find(f"{t[: len(t) // 2]}b"),
    "answers.find (inside)": lambda t: answers.Quotable(t).find(t[1 : len(t) // 2]),
    "answers.find (cut)": lambda t: answers.Quotable(f"{t}b").find(f"{t[: len(t) // 2]}b"[:-1]),
    "answers.is_own_text": lambda t: answers.is_own_text(t, len(t)),
    "answers.is_faithful": lambda t: answers.is_faithful(t, t),
    "answers.clause": lambda t: answers.clause(t, len(t) // 2, len(t) // 2 + 1),
    "answers.verify_answer": _answer,
    "choices.find_candidates": lambda t: list(choices.find_candidates(_excerpts(t))),
    "choices.batches": lambda t: list(choices.batches(list(choices.find_candidates(_excerpts(t))))),
    "choices.choice_prompt": lambda t: choices.choice_prompt(
        list(choices.find_candidates(_excerpts(t))), t, wording=False
    ),
    "choices.bears_claim": lambda t: choices.bears_claim(t, f"{t}b"),
    "instructions.window_prompt": lambda t: instructions.window_prompt(_excerpts(t), [memory("a", t)], None),
    "instructions.fence_mark": lambda t: instructions.fence_mark([t]),
    "instructions.fenced": lambda t: instructions.fenced("a", t.splitlines(), "mark"),
    "instructions.transcript": lambda t: instructions.transcript(_excerpts(t), "mark"),
    "instructions.windows": lambda t: list(instructions.windows([screening.Screened(_user(t), t)], 400)),
    "corrections.attribute_of": corrections.attribute_of,
    "corrections.replaced": lambda t: corrections.replaced(t, [memory("a", t)]),
    "corrections.correction": lambda t: corrections.correction(Sentence(0, len(t), t), t, [memory("a", t)]),
    "findings.find_by_rules": lambda t: list(
        findings.find_by_rules([_user(t)], [screening.Screened(_user(t), t)], [memory("a", _unit(t))], imported=False)
    ),
    "clauses.claimed_clauses": lambda t: clauses.claimed_clauses(t, 0),
    "standing_requests.read_request": lambda t: standing_requests.read_request(Sentence(0, len(t), t)),
    "statements.holds_secret": statements.holds_secret,
    "statements.is_material": statements.is_material,
    "statements.is_unsure": statements.is_unsure,
    "statements.without_lead": statements.without_lead,
    "statements.read_statements": lambda t: list(statements.read_statements(Sentence(0, len(t), t))),
}
#: Public functions that read no text, or only what another one made, and why.
WITHOUT_TEXT = {
    "reconciliation.telling": "a set of words that was made",
    "reconciliation.current_memories": "the states of memories",
    "screening.is_owners": "the role of a message",
    "choices.schema_for": "a number",
    "choices.parse_choice": "numbers in an answer, and the sentences they name",
    "choices.choose_findings": "it asks the model with find_candidates, batches and choice_prompt",
    "instructions.load_instructions": "a file of ours",
    "instructions.closed_object": "a schema of ours",
    "instructions.text": "a slice",
    "corrections.contradicts": "two values of at most 500 characters",
    "statements.forms": "patterns of ours",
}


def _written() -> set[str]:
    """The public functions and methods of the room, from the source."""
    found: set[str] = set()
    for module in modules("src/recollectum/distil"):
        name = module.path.rpartition("/")[2].removesuffix(".py")
        classes = [node for node in module.tree.body if isinstance(node, ast.ClassDef) and node.name[0] != "_"]
        for body in (module.tree.body, *(one.body for one in classes)):
            found |= {f"{name}.{one.name}" for one in body if isinstance(one, ast.FunctionDef) and one.name[0] != "_"}
    return found


def test_every_function_of_the_room_is_looked_at() -> None:
    looked = {name.partition(" ")[0] for name in SCANS}
    assert _written() - looked - WITHOUT_TEXT.keys() == set()
    assert (looked | WITHOUT_TEXT.keys()) - _written() == set()
    assert not looked & WITHOUT_TEXT.keys()


def _cost(run: Callable[[str], object], text: str, rounds: int) -> float:
    found: list[float] = []
    for _ in range(rounds):
        began = time.thread_time()
        run(text)
        found.append(time.thread_time() - began)
    return min(found)


def _is_square(run: Callable[[str], object], unit: str, size: int, rounds: int) -> bool:
    """Whether a text of a size takes much longer than a quarter of it, and not only by the machine."""
    text = (unit * (size // len(unit) + 1))[:size]
    simple = _cost(lambda text: sum(letter == "b" for letter in text), "a" * size, 1)
    whole = _cost(run, text, rounds)
    return whole > _SUSPECT * simple and whole > _SQUARE * _cost(run, text[: size // 4], rounds)


def _growing(run: Callable[[str], object], units: Sequence[str] = UNITS) -> list[str]:
    """The units of texts on which a function grows with the square."""
    # What is made at the first call, such as a table, is not counted.
    run("a b")
    # What is bounded may still grow in a short text: what looks too slow there has to in a long one as well.
    steps = ((_SIZE, 1), (4 * _SIZE, 1), (4 * _SIZE, 3))
    return [unit for unit in units if all(_is_square(run, unit, size, rounds) for size, rounds in steps)]


@pytest.mark.parametrize("name", SCANS)
def test_no_function_grows_faster_than_its_text(name: str) -> None:
    assert _growing(SCANS[name]) == []


def test_a_function_that_grows_with_the_square_is_found() -> None:
    def compared(text: str) -> int:
        """Each sentence with each hidden range, as it once was."""
        ranges = [(at, at + 8) for at in range(0, len(text), 16)]
        return sum(any(left > end and right < at for left, right in ranges) for at, end in ranges)

    assert _growing(compared, ["a", "A b. "]) == ["a", "A b. "]
