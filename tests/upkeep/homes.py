"""Homes with something in them, for the tests of backups and repairs."""

from pathlib import Path

from recollectum import Recollectum
from recollectum.domain.ids import system_clock
from recollectum.settings.model import Settings
from recollectum.upkeep.backup.restore import BackupAccess
from recollectum.vault.intake.draft import Draft
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, open_home

ANN, BEN = "user:ann", "user:ben"


def fill(vault: Vault, count: int = 200) -> None:
    """Memories, an edit of one, a conversation, and what agents keep besides."""
    vault.memories.save_many([Draft(content=f"number {number} of the things to keep") for number in range(count)])
    edited = vault.memories.save("tea is drunk without milk", key="tea").memory
    vault.memories.edit(edited.id, content="tea is drunk with milk")
    chat = vault.sessions.open(channel="test", agent="main")
    for number in range(count // 4):
        chat.add("user", f"message {number} in the conversation")
    vault.state.history.add_many(["git status", "for one in *\ndo echo $one\ndone"], project="a" * 64)
    vault.state.interfaces.save("tips_shown", {"welcome": 2}, "terminal")
    vault.state.accounts.add("google", "ada@example.com")


def filled(folder: Path, *, encryption: str = "auto", owners: tuple[str, ...] = (ANN, BEN)) -> Recollectum:
    """An open home in which each owner has a vault."""
    home = open_home(folder, Turning(), encryption=encryption)
    for owner in owners:
        fill(home.vault(owner))
    return home


def opening(folder: Path, *, recovery_code: str | None = None, unauthenticated: bool = True) -> BackupAccess:
    """What a backup of such a home is opened with, on the same machine or on another one."""
    environ = {"HOME": str(folder / "user"), "XDG_CONFIG_HOME": str(folder / "config")}
    return BackupAccess(
        settings=Settings(),
        environ=environ,
        clock=system_clock,
        recovery_code=recovery_code,
        unauthenticated=unauthenticated,
    )


def said(vault: Vault) -> tuple[list[str], int, list[object]]:
    """Everything that is remembered, how many messages there are, and what agents keep besides."""
    kept: list[object] = [
        *vault.state.history.list(),
        *vault.state.interfaces.list("terminal"),
        *vault.state.accounts.list(),
    ]
    return sorted(memory.content for memory in vault.memories.list(limit=1000)), vault.admin.totals().messages, kept
