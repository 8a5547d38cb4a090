"""A receipt is never false: copies that a purge cannot reach are found or named, and what stays is said."""

import gzip
import json
import os
import shutil
import signal
from datetime import timedelta
from pathlib import Path

import pytest

from bench.receipts import attack
from recollectum import Recollectum
from recollectum.upkeep.backup.backup import back_up
from recollectum.upkeep.doctor.home_checks import backups, erasures
from recollectum.upkeep.rounds.tasks import RoundContext, retain
from recollectum.vault.purge.request import PurgeRequest, PurgeState, Receipt
from recollectum.vault.purge.samples import ErasureSamples
from recollectum.vault.purge.signatures import from_json, sign_receipt
from recollectum.vault.vault import Vault
from tests.crashes.programs import start
from tests.matrix.homes import Turning, open_home

pytestmark = [pytest.mark.process, pytest.mark.slow]

_PLAIN: dict[str, object] = {"encryption": "off", "storage.reserve_mib": 0}
_HOUR = timedelta(hours=1)
_ANN, _BEN = "user:ann", "user:ben"
_WORDS = "the secret word of the day is wqzkvbtrnx, and nobody else may know it"


def _purge(vault: Vault, request: PurgeRequest) -> Receipt:
    return vault.privacy.purge.run(vault.privacy.purge.preview(request).token)


@pytest.mark.feature("P9")
@pytest.mark.parametrize("encryption", ["off", "auto"])
@pytest.mark.parametrize("kind", ["copy of the file", "tar.gz", "backup", "stray table", "free pages", "log", "7z"])
def test_no_receipt_says_done_while_a_copy_is_there(tmp_path: Path, kind: str, encryption: str) -> None:
    with Recollectum(tmp_path / "home", settings={**_PLAIN, "encryption": encryption}) as home:
        assert not attack(home, kind, "copies")


@pytest.mark.feature("P9")
@pytest.mark.parametrize("encryption", ["off", "auto"])
def test_a_file_that_cannot_be_read_is_named_and_when_it_is_gone_the_search_is_made_again(
    tmp_path: Path, encryption: str
) -> None:
    with Recollectum(tmp_path / "home", settings={**_PLAIN, "encryption": encryption}) as home:
        vault = home.vault(_ANN)
        hidden = home.home.root / "hidden.bin"
        hidden.write_bytes(os.urandom(100_000))
        receipt = _purge(vault, PurgeRequest.memories(vault.memories.save(_WORDS).id))
        assert (receipt.state, receipt.hits) == (PurgeState.UNVERIFIED, 0)
        assert receipt.unread == ("hidden.bin: it is encrypted, or packed in an unknown form",)
        assert home.receipts.verify(receipt)
        assert [one.words for one in erasures(home.admin.catalog)] == [f"the purge {receipt.id} is unverified"]
    # Another process knows what to search for, although nobody kept the words.
    with Recollectum(tmp_path / "home", settings={**_PLAIN, "encryption": encryption}) as home:
        vault = home.vault(_ANN)
        copy = home.home.root / "copy.gz"
        hidden.unlink()
        copy.write_bytes(gzip.compress(_WORDS.encode()))
        (failed,) = vault.privacy.purge.finish()
        assert (failed.state, failed.hit_files) == (PurgeState.FAILED, ("copy.gz",))
        copy.unlink()
        (done,) = vault.privacy.purge.finish()
        assert (done.id, done.state, done.unread, done.reason) == (receipt.id, PurgeState.DONE, (), None)
        assert done.samples > 0
        assert vault.privacy.purge.finish() == []
        assert list(erasures(home.admin.catalog)) == []


@pytest.mark.feature("P9")
def test_upkeep_makes_the_search_again_the_next_day(tmp_path: Path) -> None:
    clock = Turning()
    with open_home(tmp_path / "home", clock, encryption="off") as home:
        vault = home.vault(_ANN)
        hidden = home.home.root / "hidden.bin"
        hidden.write_bytes(os.urandom(100_000))
        receipt = _purge(vault, PurgeRequest.memories(vault.memories.save(_WORDS).id))
        assert receipt.state is PurgeState.UNVERIFIED
        hidden.unlink()
        for days, state in ((0, PurgeState.UNVERIFIED), (2, PurgeState.DONE)):
            clock.turn(timedelta(days=days))
            retain(vault, RoundContext(now=clock(), every=_HOUR, since=None))
            assert home.receipts.get(receipt.id).state is state


@pytest.mark.feature("M9")
@pytest.mark.parametrize("encryption", ["off", "auto"])
def test_a_copy_of_a_person_is_found_though_their_key_is_destroyed(tmp_path: Path, encryption: str) -> None:
    with Recollectum(tmp_path / "home", settings={**_PLAIN, "encryption": encryption}) as home:
        home.vault(_ANN).memories.save(_WORDS)
        home.vault(_BEN).memories.save("something else of somebody else")
        back_up(home.admin, to=home.home.root / "copies")
        receipt = _purge(home.vault(_ANN), PurgeRequest.user())
        assert receipt.state is PurgeState.FAILED
        assert all(name.startswith("copies/") for name in receipt.hit_files)
        shutil.rmtree(home.home.root / "copies")
        (done,) = home.receipts.finish()
        assert (done.id, done.state) == (receipt.id, PurgeState.DONE)


@pytest.mark.feature("P9")
@pytest.mark.parametrize("kind", ["session", "user"])
def test_a_purge_that_was_killed_still_finds_a_copy(tmp_path: Path, kind: str) -> None:
    made = tmp_path / "made"
    with Recollectum(made, settings=_PLAIN) as home:
        chat = home.vault(_ANN).sessions.open(channel="home", agent="home")
        for number in range(5):
            chat.add("user", f"turn {number}: {_WORDS}")
    (made / "copy.txt").write_text(f"turn 3: {_WORDS}")
    states: set[PurgeState] = set()
    for step in (3, 5, 6, 7):
        place = tmp_path / f"{kind}{step}"
        shutil.copytree(made, place)
        child = start("tests.crashes.test_purge_kills", str(place), kind, str(step))
        assert child.wait() in (-signal.SIGKILL, 0)
        for stream in (child.stdin, child.stdout):
            assert stream is not None
            stream.close()
        with Recollectum(place, settings=_PLAIN) as home:
            if _ANN in [str(one) for one in home.list_owners()]:
                home.vault(_ANN).admin.totals()
            states |= {one.state for one in home.receipts.list()}
    assert states == {PurgeState.FAILED}


@pytest.mark.feature("P9")
@pytest.mark.parametrize("encryption", ["off", "auto"])
def test_preview_and_receipt_say_where_the_same_words_remain(tmp_path: Path, encryption: str) -> None:
    with Recollectum(tmp_path / "home", settings={**_PLAIN, "encryption": encryption}) as home:
        vault = home.vault(_ANN)
        chat = vault.sessions.open(channel="home")
        chat.add("user", _WORDS)
        memory = vault.memories.save(_WORDS).id
        seen = vault.privacy.purge.preview(PurgeRequest.memories(memory))
        receipt = vault.privacy.purge.run(seen.token)
        for told in (seen, receipt):
            assert (told.excused, told.remaining) == (1, (f"session {chat.id}",))
        assert (receipt.state, receipt.hits) == (PurgeState.DONE, 0)
        assert home.receipts.verify(receipt)
        last = _purge(vault, PurgeRequest.sessions(chat.id))
        assert (last.state, last.excused) == (PurgeState.DONE, 0)


@pytest.mark.feature("P9")
def test_words_that_remain_in_the_vault_do_not_excuse_a_copy_beside_it(tmp_path: Path) -> None:
    with Recollectum(tmp_path / "home", settings=_PLAIN) as home:
        vault = home.vault(_ANN)
        vault.sessions.open(channel="home").add("user", _WORDS)
        memory = vault.memories.save(_WORDS).id
        (home.home.root / "copy.txt").write_text(_WORDS)
        receipt = _purge(vault, PurgeRequest.memories(memory))
        assert (receipt.state, receipt.hit_files) == (PurgeState.FAILED, ("copy.txt",))


@pytest.mark.feature("P9")
@pytest.mark.parametrize("text", ["{id}", "see {id} for the details of this", "{id} was written on a monday morning"])
def test_a_memory_that_quotes_its_own_id_is_erased_like_any_other(tmp_path: Path, text: str) -> None:
    with Recollectum(tmp_path / "home", settings=_PLAIN) as home:
        vault = home.vault(_ANN)
        memory = vault.memories.save("to be written").memory
        vault.memories.edit(memory.id, content=text.replace("{id}", memory.id))
        receipt = _purge(vault, PurgeRequest.memories(memory.id))
        assert (receipt.state, receipt.hits) == (PurgeState.DONE, 0), receipt


def test_an_id_is_no_sample() -> None:
    samples = ErasureSamples()
    samples.take("mem_01kt07nv00v96zb3em9c07j1hc")
    assert (samples.texts, samples.terms, samples.short) == ([], [], 0)
    samples.take("my own name for it is conversation-4711 and more", ids=("conversation-4711",))
    assert samples.texts == ["my own name for it is"]


@pytest.mark.feature("P9")
def test_backups_that_were_made_elsewhere_are_listed(tmp_path: Path) -> None:
    with Recollectum(tmp_path / "home", settings=_PLAIN) as home:
        vault = home.vault(_ANN)
        memory = vault.memories.save(_WORDS).id
        inside = back_up(home.admin).path
        stick = back_up(home.admin, to=tmp_path / "stick").path
        archive = back_up(home.admin, to=tmp_path / "disk/all.tar").path
        others = back_up(home.admin, to=tmp_path / "stick", owners=[home.vault(_BEN).owner]).path
        seen = vault.privacy.purge.preview(PurgeRequest.memories(memory))
        receipt = vault.privacy.purge.run(seen.token)
        for told in (seen, receipt):
            places = [one.partition(" (made ")[0] for one in told.elsewhere]
            assert places == [str(stick), str(archive)]
        assert str(others) not in str(receipt)
        assert f"{inside.name} is partial" in [
            one.words.partition(":")[0] for one in backups(home.home, home.admin.clock)
        ]
        # One that was removed is forgotten with the next backup.
        shutil.rmtree(stick)
        back_up(home.admin, to=tmp_path / "third")
        last = vault.privacy.purge.preview(PurgeRequest.memories(vault.memories.save("another one").id))
        assert [Path(one.partition(" (made ")[0]).parent.name for one in last.elsewhere] == ["disk", "third"]


def test_a_receipt_of_an_earlier_release_is_still_genuine_and_no_field_can_be_added_to_it(tmp_path: Path) -> None:
    with Recollectum(tmp_path / "home", settings=_PLAIN) as home:
        vault = home.vault(_ANN)
        made = _purge(vault, PurgeRequest.memories(vault.memories.save(_WORDS).id))
        later = {"form", "unread", "excused", "remaining", "elsewhere", "shredded"}
        told = json.loads(json.dumps({name: getattr(made, name) for name in made.__slots__}, default=dict))
        first = from_json({name: value for name, value in told.items() if name not in later})
        seed = vault.privacy.purge._ground().seed()  # pyright: ignore[reportPrivateUsage]
        old = sign_receipt(first, seed)
        assert (old.form, home.receipts.verify(old)) == (1, True)
        changed = {name: getattr(old, name) for name in old.__slots__} | {"remaining": ("session ses_x",)}
        assert not home.receipts.verify(from_json(changed))
