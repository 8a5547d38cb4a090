"""The history of shells: bounded by project, as it was typed but without secrets, found, deleted and purged."""

import os
import random
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from recollectum import PurgeRequest, Recollectum
from recollectum.domain.agent_state.shell_command import MAX_COMMAND
from recollectum.domain.errors import InvalidInput, NotFound, RecollectumError
from recollectum.domain.page import every
from recollectum.upkeep.backup.backup import back_up
from recollectum.upkeep.backup.restore import restore_vaults
from recollectum.vault.vault import Vault
from tests.crashes.programs import finish, hear, run, start, tell
from tests.matrix.homes import Turning, open_home
from tests.plugins.engines import database_of
from tests.plugins.postgres import words_in_rows
from tests.upkeep.homes import opening

pytestmark = pytest.mark.process

ONE, TWO = "1" * 64, "2" * 64
_SECRET = "ghp_01B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
#: How many commands of random bytes are tried, 10,000 in a full run; and how many each shell records, 500 in one.
_FUZZED = int(os.environ.get("RECOLLECTUM_TEST_FUZZ", "100"))
_RECORDED = int(os.environ.get("RECOLLECTUM_TEST_HISTORY", "25"))


def _texts(vault: Vault, project: str | None = None, text: str | None = None) -> list[str]:
    return [one.command for one in vault.state.history.list(project=project, text=text, limit=1000)]


@pytest.mark.feature("C13")
def test_commands_are_kept_by_project_as_they_were_typed(vault: Vault) -> None:
    lines = 'for one in *.txt\n\tdo echo "$one"\ndone'
    vault.state.history.add(lines + "\n", project=ONE)
    vault.state.history.add("make test", project=TWO)
    vault.state.history.add("cd ~")
    assert _texts(vault, ONE) == [lines]
    assert _texts(vault, "") == ["cd ~"]
    assert _texts(vault) == ["cd ~", "make test", lines]


@pytest.mark.feature("C13")
def test_the_oldest_commands_of_a_full_project_go_first(place: Path) -> None:
    with open_home(place, Turning(), settings={"sessions.shell_history": 3}) as home:
        vault = home.vault("user:alice")
        vault.state.history.add("of another project", project=TWO)
        for number in range(5):
            vault.state.history.add(f"echo {number}", project=ONE)
        vault.state.history.add_many([f"echo {number}" for number in range(5, 10)], project=ONE)
        assert _texts(vault, ONE) == ["echo 9", "echo 8", "echo 7"]
        assert _texts(vault, TWO) == ["of another project"]


def test_commands_are_found_by_a_part_of_them_page_by_page(vault: Vault) -> None:
    vault.state.history.add_many([f"Git commit -m 'Änderung {number}'" for number in range(7)], project=ONE)
    vault.state.history.add("ls", project=ONE)
    first = vault.state.history.list(text="äNDERUNG", limit=4)
    rest = vault.state.history.list(text="äNDERUNG", limit=4, cursor=first.next)
    assert [one.command[-2] for one in (*first, *rest)] == list("6543210")
    assert rest.next is None
    assert _texts(vault, ONE, "100%") == []


def test_a_secret_in_a_command_is_never_written(vault: Vault, home: Recollectum) -> None:
    added = vault.state.history.add(f"curl -H 'Authorization: token {_SECRET}' https://example.org")
    assert _SECRET not in added.command
    assert "[secret:" in added.command
    assert sum(added.notice.replaced.values()) == 1
    assert run("tests.faults.grepping_program", str(home.home.root), _SECRET) == []


def test_a_command_that_cannot_be_kept_is_refused_and_nothing_of_its_batch_is_kept(vault: Vault) -> None:
    for command in ("", "  \n\n", "x" * (MAX_COMMAND + 1)):
        with pytest.raises(InvalidInput, match="the command"):
            vault.state.history.add_many(["ls", command])
    assert _texts(vault) == []


def test_a_project_is_named_by_its_digest(vault: Vault) -> None:
    history = vault.state.history
    for project in ("x", "A" * 64, "1" * 63, "/home/ann"):
        for call in (history.list, history.delete_all, partial(history.add, "ls"), PurgeRequest.history):
            with pytest.raises(InvalidInput, match="64 hexadecimal digits"):
                call(project=project)


def test_one_command_or_a_whole_project_can_be_deleted(vault: Vault) -> None:
    gone = vault.state.history.add("rm -rf zqxwvbn", project=ONE)
    vault.state.history.add_many(["ls", "pwd"], project=ONE)
    vault.state.history.add("make", project=TWO)
    vault.state.history.delete(gone.id)
    with pytest.raises(NotFound, match="history list"):
        vault.state.history.delete(gone.id)
    assert vault.state.history.delete_all(project=ONE) == 2
    assert _texts(vault) == ["make"]
    assert vault.state.history.delete_all() == 1
    assert vault.state.history.delete_all() == 0


def _found(home: Recollectum, *words: str) -> set[str]:
    """Which words are in a file of the home, or in a row of its database."""
    database = database_of(home.home.root)
    in_rows = words_in_rows(database, *words) if database else set[str]()
    hits = run("tests.faults.grepping_program", str(home.home.root), *words)
    return in_rows | {line.partition(" ")[0] for line in hits}


@pytest.fixture
def readable(place: Path, clock: Turning) -> Callable[[], Recollectum]:
    """Opens a home without encryption, in which a byte that was kept can be found."""
    return lambda: open_home(place, clock, encryption="off")


@pytest.mark.feature("C13")
@pytest.mark.parametrize("which", ["project", "older", "user"])
def test_a_purge_erases_commands_with_a_receipt_and_no_byte_stays(
    readable: Callable[[], Recollectum], clock: Turning, which: str
) -> None:
    with readable() as home:
        vault = home.vault("user:alice")
        home.vault("user:bob").state.history.add("echo kept-plmoknij")
        vault.state.history.add_many([f"deploy zqxwvbnmkj{number}" for number in range(20)], project=ONE)
        clock.turn(timedelta(days=5))
        vault.state.history.add("echo rtyfghvbn")
        requests = {
            "project": PurgeRequest.history(ONE),
            "older": PurgeRequest.older_than(3),
            "user": PurgeRequest.user(),
        }
        preview = vault.privacy.purge.preview(requests[which])
        assert preview.counts["shell_commands"] == (21 if which == "user" else 20)
        receipt = vault.privacy.purge.run(preview.token)
        assert (receipt.state, receipt.hits, receipt.counts) == ("done", 0, preview.counts)
        assert home.receipts.verify(receipt)
        left = {"kept-plmoknij"} if which == "user" else {"kept-plmoknij", "rtyfghvbn"}
        assert _found(home, "zqxwvbnmkj", "rtyfghvbn", "kept-plmoknij") == left


def test_commands_that_an_older_copy_brings_back_are_erased_again(place: Path) -> None:
    with open_home(place, Turning()) as home:
        vault = home.vault("user:alice")
        vault.state.history.add("deploy zqxwvbnmkj", project=ONE)
        vault.state.history.add("echo kept-plmoknij")
        copy = back_up(home.admin, to=place / "stick").path
        vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.history(ONE)).token)
        restore_vaults(home.admin, copy, opening(place), owners=[vault.owner], replace=True)
        assert _texts(home.vault("user:alice")) == ["echo kept-plmoknij"]


def test_a_preview_no_longer_fits_after_another_command(vault: Vault) -> None:
    vault.state.history.add("ls")
    for request in (PurgeRequest.history(), PurgeRequest.user()):
        preview = vault.privacy.purge.preview(request)
        vault.state.history.add("pwd")
        with pytest.raises(RecollectumError, match="changed since the preview"):
            vault.privacy.purge.run(preview.token)


def test_words_of_a_purged_message_that_a_command_keeps_are_told(vault: Vault) -> None:
    chat = vault.sessions.open(channel="test", agent="main")
    chat.add("user", "please run the deployment of qwertzuiop now")
    kept = vault.state.history.add("echo please run the deployment of qwertzuiop now")
    preview = vault.privacy.purge.preview(PurgeRequest.sessions(chat.id))
    assert preview.remaining == (f"command {kept.id}",)
    assert vault.privacy.purge.run(preview.token).state == "done"


def test_any_text_is_kept_or_refused(vault: Vault) -> None:
    chance = random.Random(16)
    letters = [*map(chr, range(256)), "\u2028", "\ud800", "緑", "\U0001f41d", "\x1b[31m", "\r\n"]
    given = ["".join(chance.choices(letters, k=chance.randrange(60))) for _ in range(_FUZZED)]
    kept = 0
    for one in given:
        # Any other error fails the test.
        with suppress(InvalidInput):
            vault.state.history.add(one)
            kept += 1
    assert kept > len(given) / 2
    assert min(kept, 1000) == len(vault.state.history.list(limit=1000))
    for one in given[:50]:
        vault.state.history.list(text=one)


@pytest.mark.slow
@pytest.mark.feature("C13")
def test_shells_that_record_at_once_lose_no_command(place: Path) -> None:
    with open_home(place, Turning()) as home:
        home.vault("user:alice")
    program = "tests.vault.agent_state.recording_program"
    shells = [start(program, str(place), str(number), str(_RECORDED)) for number in range(8)]
    for shell in shells:
        assert hear(shell) == "ready"
    for shell in shells:
        tell(shell, "go")
    for shell in shells:
        assert finish(shell) == ["done"]
    with open_home(place, Turning()) as home:
        history = home.vault("user:alice").state.history
        found = [
            list(every(lambda cursor, key=str(number) * 64: history.list(project=key, cursor=cursor, limit=1000)))
            for number in range(2)
        ]
    expected = [f"echo {shell} {number}\n# line 2" for shell in range(8) for number in range(_RECORDED)]
    assert sorted(one.command for page in found for one in page) == sorted(expected)
    # Each shell's commands are in the order in which it ran them.
    for shell in range(8):
        own = [one.command for page in found for one in reversed(page) if one.command.startswith(f"echo {shell} ")]
        assert own == [f"echo {shell} {number}\n# line 2" for number in range(_RECORDED)]
