"""`recollectum index` with an embedder and without one."""

import pytest

from tests.doors.cli.calls import call, ok, refused
from tests.doors.cli.generations import add_previous_generation
from tests.doors.cli.terminals import Terminal

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_EMBEDDING__PROVIDER", "local")


def test_without_an_embedder_it_says_so_and_the_words_are_still_made_again() -> None:
    ok("remember", "Grace plays the piano")
    assert ok("index", "status").out.splitlines() == [
        "pieces      1",
        "by meaning  off: embedding.provider is none",
        "vectors     none",
    ]
    assert "embedding.provider is none" in refused("index", "update")
    again = ok("index", "rebuild")
    assert again.out == "1 piece made, 0 embedded\n"
    assert again.err.startswith("degraded: embedding.provider is none")
    assert len(ok("recall", "piano", "--json").json["hits"]) == 1
    assert ok("index", "verify").out == "sound\n"


def test_there_is_nothing_to_go_back_to_at_first() -> None:
    assert "no previous generation of the index to roll back to" in refused("index", "rollback")


@pytest.mark.feature("G17")
@pytest.mark.usefixtures("local")
def test_vectors_are_made_made_again_and_put_back() -> None:
    ok("remember", "Grace plays the piano")
    ok("remember", "The train leaves at nine")
    assert "vectors     none yet; make them with: recollectum index update" in ok("index", "status").out
    assert ok("index", "update").out == "2 pieces embedded\n"
    assert ok("index", "update", "--json").json["embedded"] == 0
    status = ok("index", "status").out.splitlines()
    assert status[:4] == [
        "pieces      2",
        "by meaning  on",
        "model       recollectum-embed (local)",
        "vectors     2, up to date",
    ]
    ok("remember", "Lentils for dinner")
    assert "about 1 behind" in ok("index", "status").out
    again = ok("index", "rebuild", "--json").json
    assert (again["pieces"], again["embedded"]) == (3, 3)
    assert ok("recall", "which instrument does she play?", "--json").json["rung"] == "hybrid"
    add_previous_generation("user:ada")
    assert "before      old-model (elsewhere); `recollectum index rollback` goes back" in ok("index", "status").out
    assert "model       old-model (elsewhere)" in ok("index", "rollback").out
    assert "model       recollectum-embed (local)" in ok("index", "rollback").out


@pytest.mark.usefixtures("local")
def test_progress_is_shown_on_a_terminal_alone() -> None:
    ok("remember", "Grace plays the piano")
    with Terminal("index", "update") as terminal:
        terminal.wait_for("embedding")
        assert terminal.end() == 0
    assert "1 piece embedded" in terminal.shown
    assert call("index", "update").err == ""
