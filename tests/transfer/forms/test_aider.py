"""The history of aider: what it says of itself is nobody's words."""

from pathlib import Path

from recollectum import Recollectum

HISTORY = """
# aider chat started at 2026-11-18 06:10:16

> /usr/bin/aider --message Which colour?
# a heading
and more
> quoted
> Aider v0.86.2

#### Which colour?
#### # a heading

Teal.

> Tokens: 605 sent, 6 received.
"""


def test_a_command_line_of_several_lines_is_not_an_answer(tmp_path: Path) -> None:
    file = tmp_path / ".aider.chat.history.md"
    file.write_text(HISTORY)
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as home:
        vault = home.vault("user:ann")
        vault.admin.imports.run(vault.admin.imports.preview([file]))
        (session,) = vault.sessions.list()
        said = [(one.role.value, one.text) for one in vault.sessions.chat(session.id).transcript()]
    assert said == [("user", "Which colour?\n# a heading"), ("assistant", "Teal.")]
