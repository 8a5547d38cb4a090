"""What a question sees of projects: its own and what is personal; recall prefers its own, and a context never mixes."""

from dataclasses import replace
from pathlib import Path

import pytest

from recollectum.domain.hit import RecallResult
from recollectum.recall.scoring import PROJECT_WEIGHT
from recollectum.vault.vault import Vault

WORD = "lighthouse"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with two projects."""
    for name in ("blue", "red"):
        (tmp_path / "work" / name).mkdir(parents=True)
    return tmp_path / "work"


@pytest.fixture
def filled(vault: Vault, work: Path) -> Vault:
    """Two projects with a memory, a conversation and a learning each, and the same of no project."""
    for name in ("blue", "red", None):
        place = f"{work}/{name}" if name else None
        shown = name or "own"
        vault.memories.save(f"The {shown} {WORD} is tall", project=place)
        vault.memories.save(f"Paint the {shown} {WORD} first", kind="pattern", project=place)
        vault.sessions.open(project=place).add("user", f"We talked about the {shown} {WORD} yesterday")
    return vault


def seen(found: RecallResult | str) -> set[str]:
    texts = found if isinstance(found, str) else " ".join(hit.text for hit in found)
    return {name for name in ("blue", "red", "own") if f"the {name} {WORD}" in texts.casefold()}


@pytest.mark.feature("C14")
def test_recall_in_a_project_leaves_out_the_others(filled: Vault, work: Path) -> None:
    assert seen(filled.recall(WORD, limit=20)) == {"blue", "red", "own"}
    assert seen(filled.recall(WORD, limit=20, project="blue")) == {"blue", "own"}
    assert seen(filled.recall(WORD, limit=20, project=str(work / "red"))) == {"red", "own"}
    for source in ("memories", "sessions"):
        assert seen(filled.recall(WORD, limit=20, project="blue", source=source)) == {"blue", "own"}
    assert seen(filled.recall("lighthou", limit=20, project="blue")) == {"blue", "own"}


@pytest.mark.feature("C14")
def test_two_projects_never_mix_in_a_context_unless_asked(filled: Vault) -> None:
    assert seen(filled.context(WORD).whole) == {"own"}
    assert seen(filled.context(WORD, project="blue").whole) == {"blue", "own"}
    assert seen(filled.context(WORD, project="blue", all_projects=True).whole) == {"blue", "red", "own"}
    # Without a word of a question, learnings alone.
    assert seen(filled.context(project="red").whole) == {"red", "own"}
    assert [one.content for one in filled.projects.list_memories("red")] == [
        f"Paint the red {WORD} first",
        f"The red {WORD} is tall",
    ]
    # The project of a session is known.
    session = filled.projects.list_sessions("red")[0]
    assert seen(filled.context(WORD, session_id=session.id).whole) == {"red", "own"}


@pytest.mark.feature("C14")
def test_what_is_learned_in_a_conversation_of_a_project_is_limited_to_it(vault: Vault, work: Path) -> None:
    chat = vault.sessions.open(project=str(work / "blue"))
    vault.learn([{"role": "user", "content": "Remember that the boat is red."}], session_id=chat.id)
    for one in vault.admin.review.list():
        vault.admin.review.approve(one.id)
    (saved,) = vault.memories.list()
    assert saved.project == vault.projects.get("blue").project.id
    assert "boat" not in vault.context("boat").whole
    assert "boat" in vault.context("boat", project="blue").whole


@pytest.mark.feature("C14")
def test_a_question_asked_in_a_project_prefers_its_texts(vault: Vault, work: Path) -> None:
    # The same words, saved last in another project: alone, the newest comes first.
    for name in ("blue", "red"):
        vault.memories.save(f"We deploy {name} on Friday", project=str(work / name))
    first = {place: vault.recall("when do we deploy", prefer_project=place)[0].text for place in ("blue", "red")}
    assert first == {"blue": "We deploy blue on Friday", "red": "We deploy red on Friday"}
    hit = vault.recall("when do we deploy", prefer_project="blue")[0]
    assert dict(hit.reasons.added)["project"] == PROJECT_WEIGHT
    # A clearly better match of another project still comes first.
    vault.memories.save("The staging server of red is called Hestia", project="red")
    assert vault.recall("what is the staging server called", prefer_project="blue")[0].text.endswith("Hestia")


def test_a_question_about_nothing_of_a_project_is_answered_as_without_one(vault: Vault, work: Path) -> None:
    for text in ("Tea is hot", "Coffee is hotter", "The kettle is hot and old"):
        vault.memories.save(text)
    vault.sessions.open().add("user", "the tea was hot today")
    before = vault.recall("hot tea", limit=10)
    vault.projects.add(str(work / "blue"))
    for wanted in (vault.recall("hot tea", limit=10), vault.recall("hot tea", limit=10, prefer_project="blue")):
        assert list(wanted) == list(before)
    assert [hit.text for hit in vault.recall("hot tea", limit=10, project="blue")] == [hit.text for hit in before]


def test_sessions_of_a_project_are_apart_and_resume(vault: Vault, work: Path) -> None:
    own, blue, red = (
        vault.sessions.open(),
        vault.sessions.open(project=f"{work}/blue"),
        vault.sessions.open(project=f"{work}/red"),
    )
    assert len({own.id, blue.id, red.id}) == 3
    assert vault.sessions.open(project="blue").id == blue.id
    assert vault.sessions.open().id == own.id
    assert vault.sessions.get(blue.id).project == vault.projects.get("blue").project.id
    assert [one.id for one in vault.projects.list_sessions("blue")] == [blue.id]
    blue.add("user", "hello")
    vault.sessions.checkpoints.save(blue.id, "here")
    assert [one.name for one in vault.projects.list_checkpoints("blue")] == ["here"]
    assert vault.projects.list_checkpoints("red") == []
    fork = vault.sessions.checkpoints.resume("here").info()
    assert fork.project == vault.sessions.get(blue.id).project
    counts = vault.projects.get("blue").counts
    assert (counts.sessions, counts.messages, counts.checkpoints) == (2, 2, 1)


def test_a_conversation_that_names_an_unknown_project_counts_as_personal(vault: Vault, work: Path) -> None:
    """As one that was imported from an agent that hashes its folders too."""
    vault.projects.add(str(work / "blue"))
    chat = vault.sessions.open_key("agent:gemini:cli:direct")
    strange = replace(chat.info(), id="ses_" + "0" * 26, project="f" * 64)
    vault.sessions.adopt(strange, [])
    vault.sessions.chat(strange.id).add("user", f"The own {WORD} is tall")
    assert f"own {WORD}" in vault.context(WORD).whole
