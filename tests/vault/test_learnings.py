"""Learnings: four categories, each said once, and LEARNINGS.md as their other face."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.learning import LearningsReport
from recollectum.domain.memory import Kind, State
from recollectum.vault.files import owner_files
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, open_home

pytestmark = pytest.mark.process

DAY = date(2026, 3, 1)


@pytest.fixture
def home(place: Path, clock: Turning) -> Iterator[Recollectum]:
    with open_home(place, clock, settings={"learnings.debounce_seconds": 0.0}) as opened:
        yield opened


@pytest.fixture
def path(vault: Vault) -> Path:
    """The file of the default agent, synced once."""
    vault.learnings.sync()
    return vault.learnings.file()


def texts(vault: Vault, agent: str | None = None) -> list[str]:
    return [one.text for one in vault.learnings.list(agent=agent)]


def put(path: Path, old: str, new: str) -> None:
    """An edit by hand."""
    before = path.read_text()
    assert old in before
    path.write_text(before.replace(old, new, 1))


def counts(report: LearningsReport) -> tuple[int, int, int, int]:
    assert report.problem is None
    return report.added, report.edited, report.forgotten, len(report.clashes)


@pytest.mark.feature("G15")
def test_what_is_said_again_gets_a_new_day(vault: Vault, clock: Turning) -> None:
    first = vault.learnings.save("Prefers short answers with one clear example", "preference")
    clock.turn(timedelta(days=3))
    again = vault.learnings.save("Usually prefers short answers with one clear example", "preference")
    assert (again.id, again.text, again.day) == (first.id, first.text, DAY + timedelta(days=3))
    assert [one.day for one in vault.learnings.list()] == [DAY + timedelta(days=3)]
    assert vault.memories.get(first.id).kind is Kind.PREFERENCE


@pytest.mark.feature("G15")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Run the tests with 2 workers on this small machine at home",
            "Run the tests with 4 workers on this small machine at home",
        ),
        (
            "Do use tabs in the old Python files of this project",
            "Do not use tabs in the old Python files of this project",
        ),
        (
            "You can push to the main branch of this one repository here",
            "You can't push to the main branch of this one repository here",
        ),
        (
            "Always ask before deleting any of the files in this folder",
            "Never ask before deleting any of the files in this folder",
        ),
    ],
)
def test_a_number_or_a_negation_is_never_swallowed(vault: Vault, one: str, other: str) -> None:
    assert vault.learnings.save(one, "pattern").id != vault.learnings.save(other, "pattern").id


@pytest.mark.feature("G15")
def test_less_than_four_fifths_is_something_else(vault: Vault) -> None:
    one = vault.learnings.save("Prefers short answers with examples", "preference")
    other = vault.learnings.save("Prefers short answers with citations", "preference")
    assert one.id != other.id


@pytest.mark.feature("G15")
def test_only_inside_its_category_and_only_for_its_agent(vault: Vault) -> None:
    said = [
        vault.learnings.save("Ask before deleting", "pattern"),
        vault.learnings.save("Ask before deleting", "correction"),
        vault.learnings.save("Ask before deleting", "pattern", agent="coder"),
        vault.learnings.save("Ask before deleting", "pattern", shared=True),
    ]
    assert len({one.id for one in said}) == len(said)
    assert len(vault.learnings.list(agent="coder")) == 2
    assert [one.agent for one in vault.learnings.list(shared=True)] == [None]
    assert len(vault.learnings.list(category="pattern")) == 2


def test_an_archived_learning_comes_back_when_it_is_said_again(vault: Vault) -> None:
    first = vault.learnings.save("Ask before deleting", "pattern")
    vault.memories.move(first.id, State.ARCHIVED)
    assert texts(vault) == []
    assert vault.learnings.save("Ask before deleting.", "pattern").id == first.id
    assert texts(vault) == ["Ask before deleting"]


def test_nonsense_is_refused_in_words(vault: Vault) -> None:
    with pytest.raises(InvalidInput, match=r"category 'fact' is unknown; use one of preference, correction"):
        vault.learnings.save("x", "fact")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidInput, match="not both"):
        vault.learnings.save("x", "pattern", agent="coder", shared=True)
    with pytest.raises(InvalidInput, match="agent name"):
        vault.learnings.file("../bob")
    fact = vault.memories.save("no learning at all").memory
    with pytest.raises(NotFound, match="there is no learning"):
        vault.learnings.forget(fact.id)


@pytest.mark.feature("G14")
def test_the_file_shows_four_dated_categories(vault: Vault, path: Path) -> None:
    vault.learnings.save("Prefers tea", "preference")
    vault.learnings.save("The API is at v2", "correction")
    vault.learnings.save("Two lines\nare one learning", "tool_usage")
    vault.learnings.save("not of this agent", "pattern", agent="coder")
    assert vault.learnings.sync().written
    assert path.read_text() == (
        "# Learnings\n\n## Preferences\n- [2026-03-01] Prefers tea\n\n## Corrections\n- [2026-03-01] The API is at v2\n"
        "\n## Patterns\n\n## Tool usage\n- [2026-03-01] Two lines\n  are one learning\n"
    )
    before = path.stat().st_mtime_ns
    assert not vault.learnings.sync().any()
    assert path.stat().st_mtime_ns == before


@pytest.mark.feature("G14")
def test_an_edit_by_hand_is_taken_over(vault: Vault, path: Path, clock: Turning) -> None:
    kept = vault.learnings.save("Prefers green tea", "preference")
    gone = vault.learnings.save("Dislikes phone calls", "preference")
    vault.learnings.sync()
    clock.turn(timedelta(days=9))
    put(path, "green tea", "black tea")
    put(path, "- [2026-03-01] Dislikes phone calls\n", "")
    put(path, "## Patterns\n", "## Patterns\n\nmine: keep this\n- [2024-01-15] Bullets for lists\n* undated one\n")
    assert counts(vault.learnings.sync()) == (2, 1, 1, 0)
    assert [one.content for one in vault.memories.history(kept.id).versions] == [
        "Prefers green tea",
        "Prefers black tea",
    ]
    assert [one.id for one in vault.memories.list(state="soft_deleted")] == [gone.id]
    days = {one.text: one.day for one in vault.learnings.list()}
    assert days == {
        "Prefers black tea": DAY,
        "Bullets for lists": date(2024, 1, 15),
        "undated one": DAY + timedelta(days=9),
    }
    assert "mine: keep this\n- [2024-01-15] Bullets for lists\n- [2026-03-10] undated one\n" in path.read_text()
    assert not vault.learnings.sync().any()


def test_a_day_written_by_hand_is_kept(vault: Vault, path: Path, clock: Turning) -> None:
    vault.learnings.save("Prefers tea", "preference")
    vault.learnings.sync()
    put(path, "2026-03-01", "2020-02-29")
    assert vault.learnings.sync().problem is None
    clock.turn(timedelta(days=1))
    assert [one.day for one in vault.learnings.list()] == [date(2020, 2, 29)]
    assert "- [2020-02-29] Prefers tea" in path.read_text()
    vault.learnings.save("prefers TEA", "preference")
    vault.learnings.sync()
    assert "- [2026-03-02] Prefers tea" in path.read_text()


def test_a_line_moved_to_another_heading_is_the_same_learning(vault: Vault, path: Path) -> None:
    one = vault.learnings.save("Ask before deleting", "preference")
    vault.learnings.sync()
    put(path, "- [2026-03-01] Ask before deleting\n", "")
    put(path, "## Tool usage\n", "## Tool usage\n- [2026-03-01] Ask before deleting\n")
    assert counts(vault.learnings.sync()) == (0, 1, 0, 0)
    assert vault.memories.get(one.id).kind is Kind.TOOL_USAGE
    vault.memories.edit(one.id, kind="pattern")
    vault.learnings.sync()
    assert path.read_text().endswith("## Patterns\n- [2026-03-01] Ask before deleting\n\n## Tool usage\n")


@pytest.mark.feature("G14")
def test_a_conflict_is_shown_and_nothing_is_overwritten(vault: Vault, path: Path) -> None:
    one = vault.learnings.save("Deploy on Monday", "pattern")
    vault.learnings.sync()
    vault.memories.edit(one.id, "Deploy on Tuesday")
    put(path, "Deploy on Monday", "Deploy on Friday")
    report = vault.learnings.sync()
    assert counts(report) == (1, 0, 0, 1)
    assert (report.clashes[0].memory_id, report.clashes[0].line) == (one.id, 8)
    assert sorted(texts(vault)) == ["Deploy on Friday", "Deploy on Tuesday"]
    lines = path.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("<!-- Conflict"))
    assert [line.partition("] ")[2] for line in lines[at + 1 : at + 3]] == ["Deploy on Friday", "Deploy on Tuesday"]
    assert not vault.learnings.sync().any()
    path.write_text("\n".join([*lines[:at], *lines[at + 2 :]]) + "\n")
    assert counts(vault.learnings.sync()) == (0, 0, 1, 0)
    assert texts(vault) == ["Deploy on Tuesday"]


def test_changed_here_and_removed_there_is_kept_both_ways(vault: Vault, path: Path) -> None:
    gone = vault.learnings.save("Deploy on Monday", "pattern")
    back = vault.learnings.save("Prefers green tea", "preference")
    vault.learnings.sync()
    vault.learnings.forget(gone.id)
    put(path, "on Monday", "on Friday")
    vault.memories.edit(back.id, "Prefers black tea")
    put(path, "- [2026-03-01] Prefers green tea\n", "")
    assert counts(vault.learnings.sync()) == (1, 0, 0, 2)
    assert sorted(texts(vault)) == ["Deploy on Friday", "Prefers black tea"]
    assert path.read_text().count("<!-- Conflict") == 2
    assert not vault.learnings.sync().any()


def test_what_is_forgotten_leaves_the_file_and_is_not_learned_again(vault: Vault, path: Path, clock: Turning) -> None:
    one = vault.learnings.save("Prefers tea", "preference")
    vault.learnings.sync()
    vault.learnings.forget(one.id)
    clock.turn(timedelta(days=20))
    assert vault.admin.lifecycle.run().purged == 1
    assert counts(vault.learnings.sync()) == (0, 0, 0, 0)
    assert texts(vault) == []
    assert "tea" not in path.read_text()


def test_a_file_that_is_gone_forgets_nothing(vault: Vault, path: Path) -> None:
    vault.learnings.save("Prefers tea", "preference")
    vault.learnings.sync()
    path.unlink()
    assert counts(vault.learnings.sync()) == (0, 0, 0, 0)
    assert "Prefers tea" in path.read_text()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "line 1 begins a file with none of the four headings"),
        (b"# Learnings\n\xff\n", "is not UTF-8 on line 2"),
        (b"## Patterns\n\n- [2026-02-30] no such day\n", "line 3 has the date 2026-02-30, which does not exist"),
        (b"## Patterns\n<!-- open\n", "line 2 opens a comment that is not closed"),
        (b"## Patterns\n```\n- x\n", "line 2 opens code that is not closed"),
        (b"## Patterns\n- \0\n", "line 2 contains a NUL"),
        (b"## Patterns\n## Prefs\n- [2026-03-01] Prefers tea\n", "line 3 is a learning below a heading"),
        (b"x" * 1_000_001, "has 1,000,001 bytes, and more than 1,000,000 are not read"),
    ],
)
def test_a_broken_file_is_left_alone(vault: Vault, path: Path, content: bytes, said: str) -> None:
    vault.learnings.save("Prefers tea", "preference")
    vault.learnings.sync()
    path.write_bytes(content)
    report = vault.learnings.sync()
    assert report.problem is not None
    assert report.problem.startswith(f"{path}: {said}")
    # The folder of the test has a name of chance.
    assert "tea" not in report.problem.removeprefix(str(path))
    assert path.read_bytes() == content
    assert texts(vault) == ["Prefers tea"]


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_is_not_followed(vault: Vault, path: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere.md"
    target.write_text("## Patterns\n- mine\n")
    path.unlink()
    path.symlink_to(target)
    assert "is a link" in (vault.learnings.sync().problem or "")
    path.unlink()
    path.parent.rmdir()
    path.parent.symlink_to(tmp_path)
    assert "behind the link" in (vault.learnings.sync().problem or "")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["elsewhere.md"]


@pytest.mark.feature("G14")
def test_two_people_and_two_agents_never_meet_in_one_file(home: Recollectum) -> None:
    names = ["user:alice", "user:bob", "user:Alice2", "group:whatsapp:1", "agent:alice", "global"]
    paths: set[str] = set()
    for owner in names:
        vault = home.vault(owner)
        for agent in ("main", "coder", "Coder.x", None):
            vault.learnings.save(f"{owner} {agent} alone", "pattern", agent=agent, shared=agent is None)
            assert vault.learnings.sync(agent, shared=agent is None).written
            file = vault.learnings.file(agent, shared=agent is None)
            paths.add(str(file).casefold())
            assert file.is_relative_to(home.home.root)
            assert [line for line in file.read_text().splitlines() if line.endswith("alone")] == [
                f"- [2026-03-01] {owner} {agent} alone"
            ]
            if os.name == "posix":
                assert stat.S_IMODE(file.stat().st_mode) == 0o600
                assert {stat.S_IMODE(one.stat().st_mode) for one in file.parents[:3]} == {0o700}
    assert len(paths) == len(names) * 4


def test_a_session_takes_over_what_was_edited(vault: Vault, path: Path) -> None:
    put(path, "## Patterns\n", "## Patterns\n- by hand\n")
    vault.sessions.open(channel="telegram")
    assert texts(vault) == ["by hand"]
    coder = path.parent.parent / "agent-coder" / path.name
    coder.parent.mkdir()
    coder.write_text("## Corrections\n- made before anything was learned\n")
    vault.sessions.open(channel="whatsapp")
    assert texts(vault, "coder") == ["made before anything was learned"]


def test_a_session_makes_no_file(vault: Vault) -> None:
    vault.learnings.save("Prefers tea", "preference")
    vault.sessions.open(channel="telegram")
    assert not vault.learnings.file().exists()


def test_another_write_meanwhile_is_not_overwritten(path: Path) -> None:
    before = owner_files.read(path)
    path.write_text("## Patterns\n- from the editor\n")
    with pytest.raises(owner_files.FileChangedError):
        owner_files.replace(before, before.text, (path.parent,))
    path.unlink()
    missing = owner_files.read(path)
    path.write_text("")
    with pytest.raises(owner_files.FileChangedError):
        owner_files.replace(missing, "ours", (path.parent,))
    assert path.read_text() == ""


PROGRAM = """
import sys
from pathlib import Path
from tests.matrix.homes import Turning, open_home
with open_home(Path(sys.argv[1]), Turning()) as home:
    vault = home.vault("user:alice")
    for number in range(12):
        vault.learnings.save(f"{sys.argv[2]} rule {number}", "pattern")
        assert vault.learnings.sync().problem is None
"""


def test_several_programs_sync_one_file(place: Path, vault: Vault, path: Path) -> None:
    root = Path(__file__).parents[2]
    programs = [
        subprocess.Popen([sys.executable, "-c", PROGRAM, str(place), name], cwd=root, stderr=subprocess.PIPE)
        for name in ("red", "blue")
    ]
    for one in programs:
        _, error = one.communicate(timeout=60)
        assert one.returncode == 0, error.decode()
    vault.learnings.sync()
    wanted = sorted(f"{name} rule {number}" for name in ("red", "blue") for number in range(12))
    assert sorted(texts(vault)) == wanted
    assert sorted(line.partition("] ")[2] for line in path.read_text().splitlines() if " rule " in line) == wanted
