"""Pages as they are sent: nothing of a vault acts on them, and nobody sees another's."""

import html
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from recollectum.domain.proposal import Act, Finding
from recollectum.doors.console import health as console_health
from tests.doors.console.samples import PERSON
from tests.doors.console.servers import Place

pytestmark = pytest.mark.loopback

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus='alert(1)",
    "</textarea><svg onload=alert(1)>",
    "{{ 7713 * 7717 }} {% for x in y %}",
    "\u202eabc\u2066def",
    "javascript:alert(1)",
    "]]><!-- --><style>*{display:none}</style>",
    "w" * 100_000,
    "\nfirst line is empty",
)


def _csrf(client: httpx2.Client) -> str:
    return client.get("/").text.split('name="csrf" value="')[1].split('"')[0]


@pytest.fixture
def ada(place: Place) -> Iterator[httpx2.Client]:
    with place.client("user:ada") as client:
        yield client


def test_no_text_of_a_vault_becomes_a_part_of_a_page(place: Place, ada: httpx2.Client) -> None:
    for text in HOSTILE:
        _check_hostile(place, ada, text)


def _check_hostile(place: Place, ada: httpx2.Client, text: str) -> None:
    vault = place.home.as_person("user:ada").vault("user:ada")
    memory = vault.memories.save(f"alpha {text}").memory
    vault.memories.edit(memory.id, f"alpha beta {text}")
    chat = vault.sessions.open(topic=(text.strip() or "x")[:60].replace("\n", " "))
    chat.add("user", f"alpha {text}", speaker=text[:80].replace("\n", " "))
    chat.describe(title=text[:200], summary=text[:300])
    vault.projects.add("/hostile")
    vault.memories.save(f"alpha of a project {text}", project="hostile")
    vault.projects.add_root("hostile", "/" + (text.replace("\0", "") or "x"))
    vault.admin.review.propose(
        [Finding(act=Act.ADD, content=f"gamma {text}", kind=memory.kind, importance=0.5, spans=(), reason=text[:90])]
    )
    vault.state.history.add(f"alpha {text[:5000]}")
    vault.state.interfaces.save("last", f"alpha {text[:5000]}")
    vault.state.interfaces.save("theme", "dark", "web")
    vault.state.accounts.add("google", "ada@example.com")
    paths = [
        "/",
        "/?q=alpha",
        "/console/memories",
        f"/console/memories/{memory.id}",
        "/console/conversations",
        f"/console/conversations/{chat.id}?at=1&from=0&to=9",
        "/console/projects",
        "/console/projects/hostile",
        "/console/review",
        "/console/timeline",
        f"/console/context?q=alpha&tokens=2000&session={chat.id}",
        "/console/state?q=a",
        "/console/privacy",
        "/console/extensions",
        "/console/tasks",
        "/console/health",
    ]
    for path in paths:
        answer = ada.get(path)
        assert answer.status_code == 200, (path, answer.text[:400])
        # What is edited must stay as it is; the field keeps its reading order to itself.
        outside = re.sub("<textarea.*?</textarea>", "", answer.text, flags=re.DOTALL)
        for bad in ("<script>alert", "<img src=x", "<svg onload", "<style>*", "\u202e", " onfocus='", "59521221"):
            assert bad not in outside, path
    query = ada.get("/", params={"q": text[:900]})
    assert query.status_code == 200
    assert "<script>alert" not in query.text


def test_the_words_of_a_query_or_an_address_are_shown_and_do_not_act(ada: httpx2.Client) -> None:
    for path in (
        "/console/memories/<script>alert(1)<",
        "/static/<script>alert(1)<",
        "/console/conversations/%22%3E%3Cimg",
    ):
        answer = ada.get(path)
        assert answer.status_code == 404
        assert "<script>alert" not in answer.text
        assert '"><img' not in answer.text
    for path in (
        "/console/memories?state=<script>",
        "/console/memories?kind=<script>",
        "/console/review?decision=<script>",
        "/console/conversations/ses_x?at=x",
        "/console/context?tokens=-1",
        "/console/context?tokens=99999999999999",
    ):
        assert ada.get(path).status_code in (400, 404, 409), path


def test_a_textarea_gives_back_what_was_put_in(place: Place, ada: httpx2.Client) -> None:
    memory = place.home.vault("user:ada").memories.save('\ttabs, "quotes" & <tags>').memory
    page = ada.get(f"/console/memories/{memory.id}").text
    inside = page.split('name="content"')[1].split(">\n", 1)[1].split("</textarea>")[0]
    assert html.unescape(inside) == memory.content


def test_nobody_sees_what_belongs_to_another(place: Place, ada: httpx2.Client) -> None:
    bobs = place.home.as_person("user:bob").vault("user:bob")
    memory = bobs.memories.save("kingfisher, and nobody else knows").memory
    chat = bobs.sessions.open()
    chat.add("user", "kingfisher said")
    token = _csrf(ada)
    for path in ("/?q=kingfisher", "/console/memories", "/console/conversations", "/console/privacy/export"):
        answer = ada.get(path)
        assert answer.status_code == 200
        assert "kingfisher," not in answer.text
        assert "kingfisher said" not in answer.text
    assert ada.get(f"/console/memories/{memory.id}").status_code == 404
    assert ada.get(f"/console/conversations/{chat.id}").status_code == 404
    for action in ("edit", "archive", "forget", "restore"):
        fields = {"csrf": token, "content": "mine", "version": "1"}
        assert ada.post(f"/console/memories/{memory.id}/{action}", data=fields).status_code == 404
    assert ada.post("/console/vault", data={"csrf": token, "owner": "user:bob"}).status_code == 404
    assert bobs.memories.get(memory.id) == memory


def test_a_vault_that_was_granted_can_be_looked_at_and_not_changed(place: Place, ada: httpx2.Client) -> None:
    bobs = place.home.as_person("user:bob").vault("user:bob")
    memory = bobs.memories.save("kingfisher of bob").memory
    grant = place.home.keys.add_grant("user:ada", "user:bob", permission="read", scope="user")
    token = _csrf(ada)
    assert ada.post("/console/vault", data={"csrf": token, "owner": "user:bob"}).status_code == 303
    assert "kingfisher of bob" in ada.get("/console/memories").text
    refused = ada.post(f"/console/memories/{memory.id}/forget", data={"csrf": token})
    assert refused.status_code == 403
    assert bobs.memories.get(memory.id) == memory
    place.home.keys.revoke_grant(grant.id)
    after = ada.get("/console/memories")
    assert after.status_code == 200
    assert "kingfisher" not in after.text


def test_an_edit_of_what_changed_meanwhile_is_refused_calmly(place: Place, ada: httpx2.Client) -> None:
    vault = place.home.vault("user:ada")
    memory = vault.memories.save("one").memory
    vault.memories.edit(memory.id, "two")
    fields = {"csrf": _csrf(ada), "content": "three", "version": "1"}
    refused = ada.post(f"/console/memories/{memory.id}/edit", data=fields)
    assert refused.status_code == 409
    assert "It changed in the meantime" in refused.text
    assert vault.memories.get(memory.id).content == "two"


def test_pages_of_memories_have_each_of_them_once(place: Place, ada: httpx2.Client) -> None:
    vault = place.home.vault("user:ada")
    wanted = {vault.memories.save(f"number {number} of many things").id for number in range(70)}
    seen: list[str] = []
    path = "/console/memories"
    while path:
        page = ada.get(path).text
        seen += [part.split('"')[0] for part in page.split('href="/console/memories/')[1:]]
        path = html.unescape(page.split('rel="next" href="')[1].split('"')[0]) if 'rel="next"' in page else ""
    assert len(seen) == 70
    assert set(seen) == wanted


def test_the_export_has_everything_as_lines_of_json(filled: Place) -> None:
    vault = filled.home.vault(PERSON)
    with filled.client(PERSON) as client:
        answer = client.get("/console/privacy/export")
    assert answer.headers["content-disposition"] == 'attachment; filename="recollectum-ada.jsonl"'
    lines = [json.loads(line) for line in answer.text.splitlines()]
    totals = vault.admin.totals()
    by_type = {sort: [line[sort] for line in lines if line["type"] == sort] for sort in {one["type"] for one in lines}}
    assert len(by_type["memory"]) == sum(totals.memories.values())
    assert len(by_type["session"]) == totals.sessions
    assert len(by_type["message"]) == totals.messages
    assert len(by_type["event"]) == len(vault.admin.events.list(limit=1000))
    assert by_type["vault"][0]["owner"] == PERSON
    assert "Ada is vegetarian and allergic to walnuts" in {one["content"] for one in by_type["version"]}


def test_a_memory_leads_to_the_very_words_it_came_from(filled: Place) -> None:
    memory = filled.home.vault(PERSON).memories.find("diet")
    assert memory
    with filled.client(PERSON) as client:
        page = client.get(f"/console/memories/{memory.id}").text
        words = "<mark>I am vegetarian and allergic to walnuts, so a kitchen really matters.</mark>"
        assert words in page
        href = html.unescape(page.split('href="/console/conversations/ses_')[1].split('"')[0])
        there = client.get(f"/console/conversations/ses_{href}").text
    assert words in there
    assert 'class="turn user cited"' in there


def test_without_a_home_of_ones_own_to_oneself_the_doctor_tells_only_what_is_ones_own(place: Place) -> None:
    place.home.vault("user:bob").memories.save("x")
    with place.client("user:ada") as client:
        page = client.get("/console/health").text
    assert "user:bob" not in page
    assert "Vault of user:ada" in page


def test_who_is_erased_while_signed_in_is_signed_out(place: Place, ada: httpx2.Client) -> None:
    from recollectum.vault.purge.request import PurgeRequest

    vault = place.home.vault("user:ada")
    vault.memories.save("x")
    assert ada.get("/").status_code == 200
    vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.user()).token)
    assert ada.get("/").status_code == 401


@pytest.mark.feature("M2")
def test_the_privacy_page_says_how_long_memories_are_kept(place: Place, ada: httpx2.Client) -> None:
    assert "Memories stay until you forget them" in ada.get("/console/privacy").text
    place.home.people.save_tenant("default", "expire")
    page = ada.get("/console/privacy").text
    assert "An unused memory is archived after 90 days and forgotten 60 days later." in page
    assert "can be restored for 7 days" in page


@pytest.mark.parametrize("part", ["", "&part=hits"])
def test_a_search_links_the_archived_memories_that_match(place: Place, ada: httpx2.Client, part: str) -> None:
    vault = place.home.as_person("user:ada").vault("user:ada")
    memory = vault.memories.save("the zither stands in the hall").memory.id
    assert "archived" not in ada.get(f"/?q=zither{part}").text.split('id="hits"')[-1]
    vault.memories.move(memory, "archived")
    shown = ada.get(f"/?q=zither{part}").text
    assert "1 archived memory matches" in shown
    assert f'href="/console/memories/{memory}"' in shown
    assert 'href="/console/memories?state=archived"' in shown
    assert "in the hall" not in shown


def test_the_health_of_a_large_vault_is_checked_only_on_request(
    ada: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "<dt>Matches the stored texts</dt><dd>yes</dd>" in ada.get("/console/health").text
    # Every vault is large then: reading all of its rows must wait for the button.
    monkeypatch.setattr(console_health, "_QUICK", 0)
    assert "<dt>Matches the stored texts</dt><dd>not checked yet</dd>" in ada.get("/console/health").text
    assert "<dt>Matches the stored texts</dt><dd>yes</dd>" in ada.get("/console/health?doctor=1").text


@pytest.mark.feature("C15")
def test_tasks_are_listed_with_sizes_and_ages(place: Place, ada: httpx2.Client, tmp_path: Path) -> None:
    assert "No tasks." in ada.get("/console/tasks").text
    vault = place.home.vault("user:ada")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "data").write_bytes(os.urandom(2**20))
    vault.tasks.save_workspace("<img src=x onerror=alert(1)>", tmp_path / "work")
    for number in range(50):
        vault.tasks.save(f"task-{number}")
    place.home.vault("user:bob").tasks.save("bob-1")
    first = ada.get("/console/tasks").text
    more = re.search(r'rel="next" href="([^"]+)"', first)
    assert more
    both = first + ada.get(more[1]).text
    assert "<img src=x" not in both
    assert "&lt;img src=x" in both
    assert '<td data-label="Files">1</td><td data-label="Stored">1.0 MiB</td>' in both
    assert all(f"<bdi>task-{number}</bdi>" in both for number in range(50))
    assert "bob-1" not in both
    assert ada.get("/console/tasks?after=nonsense").status_code == 400
