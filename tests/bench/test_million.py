"""Every list, page and lookup is measured in a large vault, and its work does not grow with the vault."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.million import look_at, look_through_doors
from bench.million_looks import looks, whole
from bench.million_vault import fill
from bench.surroundings import own_surroundings
from recollectum.domain.access.caller import Permission
from recollectum.vault.gate import declared_operation
from tests.matrix.services import declared
from tests.matrix.test_single_pass import OF_THE_HOME

_SMALL, _LARGE = 4_000, 16_000
#: The most steps of SQLite for a page; one pass over the memories of the larger vault takes three times as many.
_OF_A_PAGE = 12_000
#: What a call reads grows with its answer, or is one pass over a table without an index for it; and why.
_GROWS = {
    "contacts.list": "it returns every contact",
    "contacts.resolve": "every contact may be meant",
    "trash.list": "it returns everything in the trash",
    "trash.list of a session": "the memories of a session have no index",
    "trash.list_aged": "the actors of events have no index",
    "sessions.list agent:main:": "up to two thousand keys of a prefix are sorted",
    "checkpoints.list": "it returns every checkpoint",
    "checkpoints.list of a session": "few conversations have a checkpoint",
    "vault.recall": "every memory matches the question",
    "vault.context": "every memory matches the question",
    "vaultadmin.totals": "it counts by the index",
    "quarantines.preview": "the sources of memories have no index",
    "events.list created": "one event in some hundred is of the type",
    "events.list archived": "one event in some hundred is of the type",
    "events.list purged": "the types of events have no index",
    "memories.list a thousand": "it returns a thousand memories",
    "memories.list keys of a prefix": "the keys of a prefix are sorted",
    "memories.list keys, middle": "the keys of a prefix are sorted",
    "sessions.list_imports": "imports are counted together",
    "quarantines.list": "quarantines are counted together",
    **{f"review.list {one}": "few proposals wait" for one in ("waiting", "approved", "stale")},
    **{f"consolidation.list_jobs {one}": "few jobs are kept" for one in ("waiting", "claimed", "failed")},
    "consolidation.list_unread": "it looks at every conversation",
}
#: The same at the doors. The console counts memories on most pages, by the index, and the proposals that wait on all.
_DOORS_GROW = {
    "POST /v1/recall": "every memory matches the question",
    "MCP recall": "every memory matches the question",
    "console /?q=soup+after+lunch": "every memory matches the question",
    "console /console/context?q=soup+after+lunch": "every memory matches the question",
    "console /": "it counts by the index",
    "console /console/privacy": "it counts by the index",
    "console /console/memories?state=active": "it counts by the index",
    "console /console/memories?state=archived": "it counts by the index",
    "console /console/memories?state=soft_deleted": "it counts by the index",
    "console /console/memories?state=archived&before={memory}": "it counts by the index",
    "console /console/review": "few proposals wait",
    "console /console/timeline": "twice the events of a page, and their memories",
    "console /console/health": "a small vault is checked whole",
    "doctor": "it reads the whole vault",
}
#: Readers that are no list, page or lookup of stored rows.
_OTHER = {"review.analyse", "lifecycle.retention", "served.save"}
#: About a project or a value of an interface, which that vault has not, and about tasks, which are in no vault.
_ELSEWHERE = {
    *("projects.get", "projects.list_memories", "projects.list_sessions", "projects.list_checkpoints"),
    *("projects.preview", "interfacestate.get"),
    *("tasks.find", "tasks.get", "tasks.list", "tasks.preview_retention"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with own_surroundings(tmp_path):
        os.environ["RECOLLECTUM_EMBEDDING__PROVIDER"] = "none"
        yield tmp_path


def test_every_reading_operation_of_a_vault_is_measured() -> None:
    reads = {
        f"{kind.__name__.lower()}.{name}"
        for kind in declared() - OF_THE_HOME.keys()
        for name in vars(kind)
        if (found := declared_operation(getattr(kind, name))) and found.permission is Permission.READ
    }
    measured = {look.operation for look in looks(1000)}
    assert measured <= reads
    missing = reads - measured - _OTHER - _ELSEWHERE
    assert not missing, f"bench/million_looks.py has no entry for {sorted(missing)}"


@pytest.mark.slow
def test_the_work_of_a_list_does_not_grow_with_the_vault(folder: Path) -> None:
    steps: list[dict[str, int]] = []
    for count in (_SMALL, _LARGE):
        fill(folder / str(count), count)
        steps.append({str(one.look): one.steps for one in look_at(folder / str(count), count)})
    small, large = steps
    free = {str(look) for look in whole(1000)} | _GROWS.keys()
    assert not {name: count for name, count in large.items() if count > _OF_A_PAGE and name not in free}
    # Four times as many rows cost nothing more than four times as much, or a little over.
    assert not {name: count for name, count in large.items() if count > 6 * max(small[name], _OF_A_PAGE)}


@pytest.mark.slow
def test_the_work_of_a_page_at_a_door_does_not_grow_with_the_vault(folder: Path) -> None:
    steps: list[dict[str, int]] = []
    for count in (_SMALL, _LARGE):
        fill(folder / str(count), count)
        steps.append({str(one.look): one.steps for one in look_through_doors(folder / str(count), count)})
    small, large = steps
    assert not {name: count for name, count in large.items() if count > _OF_A_PAGE and name not in _DOORS_GROW}
    assert not {name: count for name, count in large.items() if count > 6 * max(small[name], _OF_A_PAGE)}
