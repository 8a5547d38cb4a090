"""Keeps the commands that shells ran, by project: bounded, without secrets, searched and deleted."""

import builtins
from collections.abc import Iterable, Sequence
from itertools import islice

from recollectum.domain.access.caller import Scope
from recollectum.domain.agent_state.shell_command import NO_PROJECT, ShellCommand, check_command, check_project
from recollectum.domain.errors import NotFound
from recollectum.domain.notice import Notice
from recollectum.domain.page import Page, cut_page
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.agent_state import shell_commands
from recollectum.vault.erasure import erase_remains, mark_remains_due
from recollectum.vault.gate import operation
from recollectum.vault.intake.admitted import AdmittedText
from recollectum.vault.intake.draft import MAX_PAGE, check_limit
from recollectum.vault.intake.intake import Intake
from recollectum.vault.intake.kept_secrets import queue_secret_deletion
from recollectum.vault.service import VaultService


class ShellHistory(VaultService):
    """The commands of one person's shells; each belongs to a project, or to none."""

    @operation(Action.STATE_WRITE, Scope.USER)
    def add(self, command: str, *, project: str = NO_PROJECT) -> ShellCommand:
        """Add a command that was run; where a project has too many, its oldest ones are deleted."""
        return self._add([command], project)[0]

    @operation(Action.STATE_WRITE, Scope.USER)
    def add_many(self, commands: Iterable[str], *, project: str = NO_PROJECT) -> builtins.list[ShellCommand]:
        """Add commands in the order in which they were run: all of them, or none."""
        return self._add(list(commands), project)

    @operation(Action.STATE_READ, Scope.USER)
    def list(
        self,
        *,
        project: str | None = None,
        text: str | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[ShellCommand]:
        """Return the newest commands of one project or of all; with a text, those that contain it in any case."""
        whose = None if project is None else check_project(project)
        size, wanted = check_limit(limit, MAX_PAGE), (text or "").casefold()

        def load(tx: Tx, _: ClockReading) -> Page[ShellCommand]:
            # Compared here: an engine whose texts are encrypted cannot look into them.
            found = (one for one in shell_commands.newest(tx, whose, cursor) if wanted in one.command.casefold())
            return cut_page(tuple(islice(found, size + 1)), size, lambda one: one.id)

        return self._runtime.read(load)

    @operation(Action.STATE_DELETE, Scope.USER)
    def delete(self, command_id: str) -> None:
        """Delete one command at once; a purge also proves that no file holds it any more."""

        def change(tx: Tx, _: ClockReading) -> None:
            one = shell_commands.find(tx, command_id)
            if one is None:
                raise NotFound(f"there is no command {command_id!r} in this history; `history list` shows the ids")
            _delete(tx, [one])
            mark_remains_due(tx)

        self._runtime.write(change, frees=True)
        erase_remains(self._runtime)

    @operation(Action.STATE_DELETE, Scope.USER)
    def delete_all(self, *, project: str | None = None) -> int:
        """Delete the commands of one project, or of all, and return how many there were."""
        whose = None if project is None else check_project(project)

        def change(tx: Tx, _: ClockReading) -> int:
            mark_remains_due(tx)
            return _delete(tx, list(shell_commands.newest(tx, whose)))

        count = self._runtime.write(change, frees=True)
        erase_remains(self._runtime)
        return count

    def _add(self, commands: Sequence[str], project: str) -> builtins.list[ShellCommand]:
        whose, most = check_project(project), self._runtime.settings.sessions.shell_history
        with Intake(self._runtime) as intake:
            admitted = [_admit(intake, one) for one in commands]

            def change(tx: Tx, reading: ClockReading) -> builtins.list[ShellCommand]:
                made = [
                    ShellCommand(
                        id=self._runtime.ids("cmd"), project=whose, command=text, at=reading.now, notice=notice
                    )
                    for text, notice in admitted
                ]
                for one in made:
                    shell_commands.add(tx, one)
                # Bounded like a log: the pages are overwritten with the next erasure.
                _delete(tx, shell_commands.beyond(tx, whose, most))
                return made

            return self._runtime.write(change)


def destroy_command(tx: Tx, command_id: str) -> str | None:
    """Delete a command in a transaction of a purge, and return its text; None when it is gone already."""
    one = shell_commands.find(tx, command_id)
    return one.command if one and _delete(tx, [one]) else None


def _admit(intake: Intake, command: str) -> tuple[AdmittedText, Notice]:
    begun = intake.tally.mark()
    admitted = intake.text(check_command(command))
    # A placeholder can be longer than the secret, and what memory served is cut out.
    check_command(admitted)
    return admitted, intake.tally.notice(begun)


def _delete(tx: Tx, commands: Sequence[ShellCommand]) -> int:
    """Delete commands, with the secrets that were kept of them."""
    if not commands:
        return 0
    queue_secret_deletion(tx, *(one.command for one in commands))
    return shell_commands.delete(tx, [one.id for one in commands])
