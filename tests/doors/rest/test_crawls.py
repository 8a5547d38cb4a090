"""A server crawls a folder once for everybody who asks within a while."""

from pathlib import Path

import pytest

from tests.doors.http.served import serving


@pytest.mark.loopback
@pytest.mark.feature("C16")
def test_people_who_ask_one_after_the_other_share_a_crawl(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("alpha")
    with serving(tmp_path / "home", settings={"notes.debounce_seconds": 3600}) as served:
        people = ("user:alice", "user:bob")
        keys = [served.with_key(served.new_key(person)) for person in people]
        for person in people:
            served.home.vault(person).admin.notes.add_folder(notes)

        def found(place: int, word: str) -> int:
            return len(keys[place].ask("POST", "/v1/recall", {"query": word, "source": "notes"}).json["hits"])

        assert found(0, "alpha") == 1
        (notes / "b.md").write_text("beta")
        # Bob is served from alice's crawl: what was there then is found, and nothing newer.
        assert (found(1, "alpha"), found(1, "beta")) == (1, 0)
        served.home.vault("user:bob").admin.notes.sync()
        assert found(1, "beta") == 1
