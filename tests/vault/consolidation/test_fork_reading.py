"""A fork and the conversation it came from are each read for what was said there."""

from pathlib import Path

from tests.matrix.homes import Turning
from tests.vault.scripted_homes import echoing, home_with

TEA, CAT = "I drink green tea every morning", "My cat is called Ada"


def test_what_a_fork_copied_is_not_read_again(place: Path, clock: Turning) -> None:
    with home_with(place, clock, echoing(TEA, CAT)) as home:
        vault = home.vault("user:alice")
        chat = vault.sessions.open()
        chat.add("user", TEA)
        fork = vault.sessions.checkpoints.fork(chat.id, 1)
        fork.add("user", CAT)
        assert [finding.content for finding in vault.admin.consolidation.preview(fork.id)] == [CAT]
        assert [finding.content for finding in vault.admin.consolidation.preview(chat.id)] == [TEA]
