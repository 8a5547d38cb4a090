"""The awaited face: generated, complete, cheap to import, with the same signatures and the same results."""

import asyncio
import inspect
from pathlib import Path

import pytest

from recollectum import Recollectum, aio
from recollectum.domain.errors import StorageError
from recollectum.vault.idempotency import Idempotency
from tests.matrix.services import public_methods, reached
from tools.aio import FILES, FOLDER, files

pytestmark = pytest.mark.process

KINDS = [kind for _, kinds in FILES.values() for kind in kinds]
#: For servers, which call it from a thread already.
WITHOUT_TWIN = {Idempotency}


def test_the_package_is_what_the_generator_writes() -> None:
    assert {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py")} == files(), "run make docs"


def test_every_service_has_an_awaited_face(tmp_path: Path) -> None:
    with Recollectum(tmp_path, settings={"encryption": "off"}) as home:
        assert reached(home, "user:alice") - WITHOUT_TWIN <= set(KINDS)
    assert aio.__all__ == sorted(f"Async{kind.__name__}" for kind in KINDS)


@pytest.mark.parametrize("plain", KINDS)
def test_the_awaited_face_has_the_same_names_signatures_and_docstrings(plain: type) -> None:
    twin: type = getattr(aio, f"Async{plain.__name__}")
    names = {name for name in dir(plain) if not name.startswith("_")} - {"gate"}
    assert not names - {name for name in dir(twin) if not name.startswith("_")}
    for name, method in public_methods(plain):
        face = inspect.getattr_static(twin, name)
        ours = inspect.signature(getattr(face, "__func__", face)).parameters.values()
        theirs = inspect.signature(inspect.unwrap(getattr(method, "__func__", method))).parameters.values()
        assert [(one.name, one.kind, one.default) for one in ours] == [
            (one.name, one.kind, one.default) for one in theirs
        ], name
        assert inspect.getdoc(face) == inspect.getdoc(method)


def test_a_home_that_is_not_open_yet_says_so() -> None:
    face = aio.AsyncRecollectum()
    assert isinstance(face.people, aio.AsyncPeople)
    with pytest.raises(StorageError, match="not open yet"):
        asyncio.run(face.list_owners())


def test_the_awaited_face_gives_the_same_results(tmp_path: Path) -> None:
    async def converse() -> list[str]:
        async with aio.AsyncRecollectum(tmp_path, settings={"encryption": "off"}) as r:
            alice = await r.vault("user:alice")
            saved = await alice.memories.save("Grace is my girlfriend", key="girlfriend")
            chat = await alice.sessions.open(channel="telegram", agent="main")
            await asyncio.gather(*(chat.add("user", f"I am vegetarian, message {n}") for n in range(20)))
            hits = await alice.recall("vegetarian", limit=30)
            await alice.memories.forget(saved.id)
            assert await alice.recall("girlfriend") == []
            assert (await alice.admin.totals()).messages == 20
            return [hit.text for hit in hits]

    told = asyncio.run(converse())
    with Recollectum(tmp_path, settings={"encryption": "off"}) as r:
        assert [hit.text for hit in r.vault("user:alice").recall("vegetarian", limit=30)] == told
    assert len(told) == 20
