"""The benchmark of adapters covers each of them, and its verdicts are those of its figures."""

import asyncio
from pkgutil import iter_modules

import pytest

import recollectum.adapters
from bench.adapters import NOT_COMPARED, SECTIONS
from bench.adapters_race import Looked, Other, Row, Took, looked

#: What the adapters share.
_SHARED = {"documents", "packing", "redacted_items", "session_log"}


def test_every_adapter_is_compared_or_the_reason_is_given() -> None:
    adapters = {one.name for one in iter_modules(recollectum.adapters.__path__)} - _SHARED
    assert adapters == SECTIONS.keys() | NOT_COMPARED.keys()
    assert not SECTIONS.keys() & NOT_COMPARED.keys()
    assert all(SECTIONS.values())


@pytest.mark.parametrize(
    ("other", "seconds", "target", "result"),
    [
        (Other("indexed and synced", "vectors", syncs=True), 1.0, "≤ 1", "met"),
        (Other("indexed and synced", "vectors", syncs=True), 1.1, "≤ 1", "missed"),
        (Other("not synced", "full text"), 1.9, "≤ 2", "met"),
        (Other("not indexed", syncs=True), 2.1, "≤ 2", "missed"),
        (Other("in memory", "vectors", keeps=False), 9.0, "none", "–"),
    ],
)
def test_the_target_follows_from_what_the_other_store_does(
    other: Other, seconds: float, target: str, result: str
) -> None:
    row = Row("adapter", 10, other, Took(seconds, 2.0), Took(1.0, 1.0))
    cells = [cell.strip() for cell in row.told().split("|")]
    assert cells[7:11] == [f"{seconds:.2f}", "2.00", target, result]


@pytest.mark.parametrize(("there", "result"), [(0.0049, "missed"), (0.0051, "met")])
def test_a_search_has_to_be_five_times_as_quick(there: float, result: str) -> None:
    found = Looked(Took(0.001, 0.001), Took(there, 0.002), "words")
    row = Row("adapter", 10, Other("one"), Took(1, 1), Took(1, 1), search=found)
    assert row.told().rstrip("| ").endswith(result)
    assert row.notes() == [f"adapter: search is words: 1.00 ms here, {there * 1000:.2f} ms there"]


def test_both_stores_take_turns() -> None:
    seen: list[str] = []

    async def there(batch: int) -> None:
        seen.append(f"there {batch}")

    asyncio.run(Row("adapter", 2, Other("one")).write([1, 2], lambda batch: seen.append(f"here {batch}"), there))
    assert seen == ["here 1", "there 1", "here 2", "there 2"]
    seen.clear()
    asyncio.run(looked([7], lambda given: seen.append(f"here {given}"), there))
    assert seen == ["here 7", "there 7"] * 2
