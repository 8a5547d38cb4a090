"""A verb means one thing for every public noun: what is listed is listed by `list`."""

import inspect
import re
import types
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, Union, get_args, get_origin, get_type_hints

import recollectum
from recollectum import Page
from tests.shape.source import ROOT
from tools.aio import FILES

KINDS = [kind for _, kinds in FILES.values() for kind in kinds]
#: Parts of one item, read by their names.
PARTS = frozenset({"messages", "transcript", "window", "citations", "as_of", "history"})
#: Acts that answer with what came of them, one for each item.
ACTS = frozenset(
    {"save_many", "add_many", "work", "preview", "diff", "analyse", "grow", "propose", "finish"},
)


def operations() -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public methods of every service, as `Memories.list`."""
    for kind in KINDS:
        for name, method in vars(kind).items():
            if not name.startswith("_") and inspect.isfunction(method):
                yield f"{kind.__name__}.{name}", method


def table() -> dict[str, list[str]]:
    """The verbs of docs/architecture.md, each with the words that are never used for it."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    part = page.partition("\n## Verbs\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| .+ \| (.+) \|$", part, re.MULTILINE)
    return {verb: never.split(", ") for verb, never in rows}


def returned(method: Callable[..., Any]) -> Any:  # noqa: ANN401  (a type of any kind)
    """The type that a method returns."""
    names = {**vars(recollectum), **{name: getattr(recollectum, name) for name in recollectum.__all__}}
    raw = inspect.unwrap(method)
    return get_type_hints(raw, localns=names)["return"]


def is_listing(hint: object) -> bool:
    return get_origin(hint) in (list, Page)


def is_optional(hint: object) -> bool:
    return get_origin(hint) in (Union, types.UnionType) and type(None) in get_args(hint)


def test_what_is_listed_is_listed_by_list() -> None:
    others = {
        name
        for name, method in operations()
        if is_listing(returned(method))
        and (last := name.split(".")[1]) not in PARTS | ACTS
        and not _begins(last, "list")
    }
    assert not others


def test_list_answers_with_items_find_may_answer_none_and_get_never_does() -> None:
    hints = {name: returned(method) for name, method in operations()}
    last = {name: name.split(".")[1] for name in hints}
    assert not {name for name in hints if _begins(last[name], "list") and not is_listing(hints[name])}
    assert not {name for name in hints if _begins(last[name], "get") and is_optional(hints[name])}
    assert not {name for name in hints if _begins(last[name], "find") and not is_optional(hints[name])}


def test_no_method_begins_with_a_word_that_the_table_of_verbs_replaces() -> None:
    replaced = {word: verb for verb, never in table().items() for word in never}
    assert len(replaced) > 40
    wrong = {name: replaced[word] for name, _ in operations() if (word := _verb(name)) in replaced}
    assert not wrong, "use the verb that docs/architecture.md gives"


def test_every_verb_that_two_nouns_share_stands_in_the_table() -> None:
    nouns: defaultdict[str, set[str]] = defaultdict(set)
    for name, _ in operations():
        if _verb(name) not in ("as", "with"):
            nouns[_verb(name)].add(name.split(".")[0])
    shared = {verb for verb, kinds in nouns.items() if len(kinds) > 1}
    assert shared <= set(table()), "say in docs/architecture.md what the verb means"


def _verb(name: str) -> str:
    return name.split(".")[1].split("_")[0]


def _begins(name: str, verb: str) -> bool:
    return name == verb or name.startswith(verb + "_")
