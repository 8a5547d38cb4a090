"""Many memories at once, as forms send them: filtered, selected, previewed, changed in one step, and undone."""

import html
import re
from collections.abc import Iterator

import httpx2
import pytest

from recollectum.domain.memory import State
from recollectum.doors.console.memory_lists import filtering
from recollectum.doors.console.memory_lists.filtering import MemoryFilter, find_memories
from recollectum.vault.vault import Vault
from tests.doors.console.servers import Place

pytestmark = pytest.mark.loopback


@pytest.fixture
def ada(place: Place) -> Iterator[httpx2.Client]:
    with place.client("user:ada") as client:
        yield client


@pytest.fixture
def vault(place: Place) -> Vault:
    made = place.home.as_person("user:ada").vault("user:ada")
    for number in range(7):
        made.memories.save(f"The {'Blue' if number % 2 else 'red'} tin number {number} is in the shed")
    return made


def _csrf(client: httpx2.Client) -> str:
    return client.get("/").text.split('name="csrf" value="')[1].split('"')[0]


def _hidden(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found, name
    return html.unescape(found[1])


def _listed(page: str) -> list[str]:
    return re.findall(r'href="/console/memories/(mem_\w+)"', page)


def test_a_list_is_filtered_by_words_in_any_state(vault: Vault, ada: httpx2.Client) -> None:
    blue = [one.id for one in vault.memories.list() if "Blue" in one.content]
    assert _listed(ada.get("/console/memories?q=BLUE+shed").text) == blue
    vault.memories.forget(blue[0])
    assert _listed(ada.get("/console/memories?q=blue").text) == blue[1:]
    assert _listed(ada.get("/console/memories?state=soft_deleted&q=blue").text) == blue[:1]
    nothing = ada.get("/console/memories?q=yellow").text
    assert "No memory matches." in nothing
    assert 'href="/?q=yellow"' in nothing
    assert "all of these words and this kind" in ada.get("/console/memories?q=blue&kind=task").text


def test_pages_of_a_filter_have_each_memory_once(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [one.id for one in vault.memories.list() if "red" in one.content]
    chosen = MemoryFilter.parse("", "", "RED")
    first = find_memories(vault, chosen, before=None, limit=3)
    second = find_memories(vault, chosen, before=first.next, limit=3)
    assert [one.id for one in (*first.memories, *second.memories)] == wanted
    assert (second.next, first.cut, second.cut) == (None, False, False)
    # A search that has compared enough says so, and the next page goes on from there.
    monkeypatch.setattr(filtering, "_BATCH", 2)
    monkeypatch.setattr(filtering, "LOOKED", 4)
    part = find_memories(vault, chosen, before=None, limit=50)
    rest = find_memories(vault, chosen, before=part.next, limit=50)
    assert part.cut
    assert [one.id for one in (*part.memories, *rest.memories)] == wanted


def test_the_selected_are_previewed_forgotten_and_brought_back(vault: Vault, ada: httpx2.Client) -> None:
    token = _csrf(ada)
    ids = [one.id for one in vault.memories.list()][:3]
    asked = {"csrf": token, "act": "forget", "state": "active", "id": ids}
    preview = ada.post("/console/memories/bulk/preview", data=asked).text
    assert "Forget 3 memories?" in preview
    assert _listed(preview) == ids
    assert len(vault.memories.list()) == 7
    fields = {
        "csrf": token,
        "act": "forget",
        "ids": _hidden(preview, "ids"),
        "back": _hidden(preview.partition("confirm")[2], "back"),
    }
    done = ada.post("/console/memories/bulk", data=fields)
    assert done.headers["location"] == "/console/memories?state=active"
    assert [one.id for one in vault.privacy.trash.list()] == ids
    told = ada.get("/console/memories").text
    assert "3 memories forgotten." in told
    event = _hidden(told, "event")
    assert ada.post("/console/timeline/undo", data={"csrf": token, "event": event}).status_code == 303
    assert len(vault.memories.list()) == 7
    assert "3 memories forgotten." not in ada.get("/console/memories").text
    # The audit trail names the person, once for each memory.
    deleted = [one for one in vault.admin.events.list(limit=50) if one.type == "deleted"]
    assert [(one.subject_id, one.actor) for one in deleted] == [(one, "person:user:ada") for one in reversed(ids)]


def test_all_that_match_are_restored_from_the_trash(vault: Vault, ada: httpx2.Client) -> None:
    token = _csrf(ada)
    vault.privacy.trash.add(one.id for one in vault.memories.list())
    asked = {"csrf": token, "act": "restore", "state": "soft_deleted", "q": "blue", "all": "1"}
    preview = ada.post("/console/memories/bulk/preview", data=asked).text
    assert "Restore 3 memories?" in preview
    ada.post("/console/memories/bulk", data={"csrf": token, "act": "restore", "ids": _hidden(preview, "ids")})
    assert {"Blue" in one.content for one in vault.memories.list()} == {True}
    assert len(vault.memories.list(state=State.SOFT_DELETED)) == 4


def test_the_selected_are_erased_only_after_the_preview_of_a_purge(vault: Vault, ada: httpx2.Client) -> None:
    token = _csrf(ada)
    ids = [one.id for one in vault.memories.list()][:2]
    asked = {"csrf": token, "act": "erase", "state": "active", "id": ids}
    preview = ada.post("/console/memories/bulk/preview", data=asked).text
    assert "Erase for good?" in preview
    assert _hidden(preview, "ids").split() == sorted(ids)
    refused = ada.post("/console/memories/bulk", data={"csrf": token, "act": "erase", "ids": " ".join(ids)})
    assert refused.status_code == 400
    assert len(vault.memories.list()) == 7


def test_a_selection_needs_the_token_a_memory_and_a_known_act(vault: Vault, ada: httpx2.Client) -> None:
    token, one = _csrf(ada), vault.memories.list()[0].id
    for path, fields, status in (
        ("/bulk/preview", {"act": "forget", "id": one}, 403),
        ("/bulk", {"act": "forget", "ids": one}, 403),
        ("/bulk/preview", {"csrf": token, "act": "forget"}, 400),
        ("/bulk", {"csrf": token, "act": "forget", "ids": ""}, 400),
        ("/bulk", {"csrf": token, "act": "burn", "ids": one}, 400),
    ):
        assert ada.post(f"/console/memories{path}", data=fields).status_code == status, (path, fields)
    assert len(vault.memories.list()) == 7


def test_what_is_anothers_is_not_selected(place: Place, vault: Vault, ada: httpx2.Client) -> None:
    bobs = place.home.as_person("user:bob").vault("user:bob")
    theirs, mine = bobs.memories.save("kingfisher").id, vault.memories.list()[0].id
    token = _csrf(ada)
    preview = ada.post("/console/memories/bulk/preview", data={"csrf": token, "act": "forget", "id": [theirs, mine]})
    assert "Forget 1 memory?" in preview.text
    assert "kingfisher" not in preview.text
    ada.post("/console/memories/bulk", data={"csrf": token, "act": "forget", "ids": f"{theirs} {mine}"})
    assert "1 memory forgotten. 1 memory left as before" in ada.get("/console/memories").text
    assert bobs.memories.get(theirs).state is State.ACTIVE
