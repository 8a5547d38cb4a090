"""A person at the console, in a real browser: every page, every action, keys, a phone, and no complaint anywhere."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from recollectum.domain.memory import Kind, State
from recollectum.domain.proposal import Act, Finding
from tests.doors.console.browsers import Watched, watched
from tests.doors.console.pictures import cut_words, overflow, paths
from tests.doors.console.samples import PERSON
from tests.doors.console.servers import Place
from tests.home.extensions.samples import files, write_folder

pytestmark = [pytest.mark.loopback, pytest.mark.process, pytest.mark.browser]


def _signed_in(browser: Browser, place: Place, *, scripts: bool = True, width: int = 1200) -> Watched:
    context = browser.new_context(java_script_enabled=scripts, viewport={"width": width, "height": 800})
    context.set_default_timeout(15_000)
    seen = watched(context, place.url)
    seen.page.goto(place.link("user:ada"))
    if not scripts:
        seen.page.get_by_role("button", name="Open the console").click()
    seen.page.wait_for_url(f"{place.url}/")
    return seen


@pytest.fixture(params=[True, False], ids=["with scripts", "without scripts"])
def seen(request: pytest.FixtureRequest, chromium: Browser, place: Place) -> Iterator[Watched]:
    made = _signed_in(chromium, place, scripts=request.param)
    yield made
    made.check()
    made.page.context.close()


@pytest.fixture
def page(seen: Watched) -> Page:
    return seen.page


@pytest.mark.feature("M10")
def test_a_memory_is_searched_edited_forgotten_and_restored(place: Place, page: Page) -> None:
    vault = place.home.as_person("user:ada").vault("user:ada")
    memory = vault.memories.save("The spare key is under the kingfisher pot").memory
    page.get_by_label("Search", exact=True).fill("kingfisher")
    page.get_by_label("Search", exact=True).press("Enter")
    hit = page.locator(".hits > li").first
    expect(hit).to_contain_text("words")
    hit.get_by_role("link").click()
    page.get_by_label("What it says").fill("The spare key is with the neighbour")
    page.get_by_role("button", name="Save the change").click()
    expect(page.get_by_role("status")).to_contain_text("Changed")
    expect(page.locator(".diff").first).to_contain_text("neighbour")
    expect(page.locator("del").first).to_contain_text("under")
    page.get_by_role("button", name="Forget").click()
    expect(page.get_by_role("status")).to_contain_text("Forgotten")
    assert not vault.recall("neighbour")
    page.get_by_role("link", name="Memories").first.click()
    page.get_by_role("link", name=re.compile("Trash")).click()
    page.get_by_role("link", name="The spare key is with the neighbour").click()
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("status")).to_contain_text("Restored")
    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_role("status")).to_contain_text("Archived")
    assert vault.memories.get(memory.id).state is State.ARCHIVED
    assert vault.memories.get(memory.id).version == 2


def test_what_was_done_is_undone_from_the_timeline(place: Place, page: Page) -> None:
    vault = place.home.as_person("user:ada").vault("user:ada")
    memory = vault.memories.save("The tin is blue").memory
    vault.memories.edit(memory.id, "The tin is red")
    page.get_by_role("link", name="Timeline").click()
    expect(page.get_by_role("img", name=re.compile("What was learned, changed and forgotten"))).to_be_visible()
    page.get_by_text("The same as a table").click()
    expect(page.get_by_role("cell", name="1").first).to_be_visible()
    page.get_by_role("button", name="Undo step 1").click()
    expect(page.get_by_role("status")).to_contain_text("Undone")
    assert vault.memories.get(memory.id).content == "The tin is blue"


def test_proposals_are_approved_edited_and_rejected(place: Place, page: Page) -> None:
    vault = place.home.as_person("user:ada").vault("user:ada")
    found = [
        Finding(act=Act.ADD, content=f"Plays the {what}", kind=Kind.FACT, importance=0.5, spans=())
        for what in ("oboe", "lute", "drum")
    ]
    vault.admin.review.propose(found)
    page.get_by_role("link", name="Review").click()
    page.locator("article", has_text="oboe").get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("Approved.")
    lute = page.locator("article", has_text="lute")
    lute.get_by_text("Approve in other words").click()
    lute.get_by_label("What it should say").fill("Plays the lute badly")
    lute.get_by_role("button", name="Approve these words").click()
    expect(page.get_by_role("status")).to_contain_text("in your words")
    page.locator("article", has_text="drum").get_by_role("button", name="Reject").click()
    expect(page.get_by_role("status")).to_contain_text("Rejected")
    expect(page.get_by_text("Nothing waits for review.")).to_be_visible()
    assert {one.content for one in vault.memories.list()} == {"Plays the oboe", "Plays the lute badly"}
    page.get_by_role("link", name="Approved").click()
    expect(page.get_by_role("link", name="The memory it became")).to_have_count(2)


def test_a_conversation_is_erased_with_a_receipt(place: Place, page: Page) -> None:
    vault = place.home.as_person("user:ada").vault("user:ada")
    chat = vault.sessions.open(topic="kept")
    chat.add("user", "The PIN is in the cormorant tin")
    page.get_by_role("link", name="Conversations").click()
    page.locator(".rows a").first.click()
    page.get_by_role("button", name="Erase for good…").click()
    expect(page.get_by_role("row", name="Messages 1")).to_be_visible()
    page.get_by_label("It cannot be restored").fill("nonsense")
    page.get_by_role("button", name="Erase for good").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was erased")
    assert vault.admin.totals().messages == 1
    page.get_by_label("It cannot be restored").fill("erase")
    page.get_by_role("button", name="Erase for good").click()
    expect(page.get_by_role("heading", name="Receipt")).to_be_visible()
    expect(page.get_by_text("It is erased.")).to_be_visible()
    receipts = vault.privacy.purge.list_receipts()
    assert [one.state.value for one in receipts] == ["done"]
    expect(page.get_by_text(receipts[0].signature)).to_be_visible()
    assert vault.admin.totals().messages == 0


def test_a_person_erases_themselves_and_keeps_the_receipt(place: Place, page: Page) -> None:
    place.home.as_person("user:ada").vault("user:ada").memories.save("The cormorant knows")
    page.get_by_role("link", name="Privacy").click()
    page.locator("form", has_text="Everything about me").get_by_role("button").click()
    page.get_by_label("It cannot be restored").fill("ada")
    page.get_by_role("button", name="Erase for good").click()
    expect(page.get_by_role("heading", name="Everything is erased")).to_be_visible()
    expect(page.locator("pre")).to_contain_text("signature")
    assert [str(one.owner) for one in place.home.people.list()] == ["user:bob"]
    page.goto(f"{place.url}/login")
    expect(page.get_by_text("You are not signed in.")).to_be_visible()


def test_something_is_written_down_and_seen_in_the_context(place: Place, page: Page) -> None:
    page.get_by_role("link", name="Memories").click()
    # Open at once, because there is nothing else to see.
    page.get_by_label("In your own words").fill("The allotment is number 27")
    page.get_by_role("button", name="Remember").click()
    expect(page.get_by_role("status")).to_have_text("Remembered.")
    page.get_by_role("link", name="Context").click()
    page.get_by_label("About").fill("allotment")
    page.get_by_role("textbox", name="Tokens").fill("600")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text(re.compile(r"\d+ of 600 tokens"))).to_be_visible()
    expect(page.locator("pre.tall")).to_contain_text("The allotment is number 27")
    assert "session=" in page.url


def test_search_answers_as_one_types_and_keys_move(chromium: Browser, filled: Place) -> None:
    seen = _signed_in(chromium, filled)
    page = seen.page
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("walnuts", delay=15)
    expect(page.locator(".hits > li").first).to_contain_text("walnuts")
    expect(page.locator("mark").first).to_have_text("walnuts")
    assert page.url.endswith("q=walnuts&source=")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(".hits > li").nth(1).get_by_role("link")).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Where it came from")).to_be_visible()
    page.get_by_role("link", name="read it in the conversation").click()
    expect(page.locator("li.cited mark")).to_have_text(
        "I am vegetarian and allergic to walnuts, so a kitchen really matters."
    )
    page.goto(filled.url)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    seen.check()


@pytest.mark.feature("C14")
def test_a_project_is_found_read_and_erased(place: Place, page: Page) -> None:
    vault = place.home.as_person("user:ada").vault("user:ada")
    vault.memories.save("The kingfisher build uses ninja", project="/work/kingfisher")
    vault.sessions.open(project="kingfisher").add("user", "why is the kingfisher build slow?")
    page.get_by_role("link", name="Projects").click()
    page.get_by_role("link", name="kingfisher").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("kingfisher")
    expect(page.get_by_text("/work/kingfisher")).to_be_visible()
    expect(page.get_by_role("link", name="The kingfisher build uses ninja")).to_be_visible()
    page.get_by_role("button", name="Preview…").click()
    expect(page.get_by_text("Everything of a project")).to_be_visible()
    page.get_by_role("textbox").fill("erase")
    page.get_by_role("button", name="Erase").click()
    page.wait_for_url(re.compile(r"/console/privacy/receipts/"))
    assert vault.projects.list() == []
    assert not vault.recall("kingfisher")


def test_tool_calls_are_folded_and_open(chromium: Browser, filled: Place) -> None:
    seen = _signed_in(chromium, filled)
    session = next(one for one in filled.home.vault(PERSON).sessions.list() if one.title and "sensors" in one.title)
    seen.page.goto(f"{filled.url}/console/conversations/{session.id}")
    expect(seen.page.get_by_text("moisture=1.40")).to_be_hidden()
    seen.page.locator("details.call summary").first.click()
    expect(seen.page.get_by_text("moisture=1.40")).to_be_visible()
    seen.check()


def test_every_page_fits_a_phone_and_asks_nobody_else(chromium: Browser, filled: Place) -> None:
    seen = _signed_in(chromium, filled, width=390)
    filled.home.vault(PERSON).tasks.save("report-6", {"state": "working"})
    for name, path in paths(filled).items():
        if name.startswith("no-such"):
            # The browser itself notes the status of an error page.
            continue
        seen.page.goto(filled.url + path)
        assert overflow(seen.page) <= 0, name
        assert cut_words(seen.page) == [], name
    seen.check()


def test_the_check_of_a_phone_sees_what_is_wrong(chromium: Browser, filled: Place) -> None:
    seen = _signed_in(chromium, filled, width=390)
    seen.page.goto(f"{filled.url}/console/tasks")
    words = "document.querySelector('h1').append(Object.assign(document.createElement('p'), {textContent: 'learning'}))"
    seen.page.evaluate(words)
    seen.page.evaluate("document.querySelector('h1 p').style.width = '2em'")
    assert cut_words(seen.page) == ["learning"]
    seen.page.evaluate("document.querySelector('h1 p').style.width = '900px'")
    assert overflow(seen.page) > 0


@pytest.mark.feature("C11")
def test_extensions_are_shown_with_what_each_may_do(place: Place, page: Page, tmp_path: Path) -> None:
    page.goto(f"{place.url}/console/extensions")
    expect(page.get_by_text("There are none.")).to_be_visible()
    hostile = files(
        description="<img src=x onerror=alert(1)>", mcpServers={"w": {"command": "<script>alert(1)</script>"}}
    )
    source = write_folder(tmp_path / "weather", {name: hostile[name] for name in hostile if "policies" not in name})
    made = place.home.extensions.install(source, place.home.extensions.preview(source).token)
    write_folder(place.home.home.root / "extensions/copied", files(name="copied"))
    page.reload()
    expect(page.get_by_role("link", name="Extensions")).to_have_attribute("aria-current", "page")
    expect(page.get_by_role("heading", name="weather 1.2.0")).to_be_visible()
    expect(page.get_by_text("hands agents the MCP server 'w', which runs: <script>alert(1)</script>")).to_be_visible()
    expect(page.get_by_text("Nobody has agreed to it, so it has no effect.")).to_be_visible()
    (Path(made.folder) / "server.js").write_text("// evil", encoding="utf-8")
    page.reload()
    expect(page.get_by_text("A file is not what was agreed to, so it has no effect.")).to_be_visible()


def test_a_theme_is_chosen_and_stays(chromium: Browser, filled: Place) -> None:
    seen = _signed_in(chromium, filled)
    page = seen.page
    page.goto(f"{filled.url}/console/health")
    page.get_by_role("button", name="Dark").click()
    page.wait_for_url(f"{filled.url}/console/health")
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("body")).to_have_css("background-color", "rgb(24, 23, 20)")
    page.get_by_role("button", name="Light").click()
    expect(page.locator("body")).to_have_css("background-color", "rgb(250, 248, 243)")
    seen.check()


def test_hostile_words_do_nothing_in_a_real_browser(chromium: Browser, place: Place) -> None:
    vault = place.home.as_person("user:ada").vault("user:ada")
    for text in ("<img src=x onerror=alert(1)>", "\"><script>document.title='owned'</script>", "w" * 100_000):
        vault.memories.save(f"alpha {text}")
        vault.sessions.open().add("user", f"alpha {text}")
    seen = _signed_in(chromium, place, width=375)
    dialogs: list[str] = []
    seen.page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    chat = vault.sessions.list()[0]
    for path in ("/?q=alpha", "/console/memories", f"/console/conversations/{chat.id}", "/console/timeline"):
        seen.page.goto(place.url + path)
        assert seen.page.title().endswith("Recollectum")
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 375, path
    assert not dialogs
    seen.check()


@pytest.mark.feature("C15")
def test_a_person_sees_the_sizes_and_ages_of_their_tasks(chromium: Browser, filled: Place) -> None:
    filled.home.vault(PERSON).tasks.save("report-7", {"state": "working"})
    seen = _signed_in(chromium, filled)
    seen.page.get_by_role("link", name="Tasks").click()
    seen.page.wait_for_url(f"{filled.url}/console/tasks")
    row = seen.page.get_by_role("row", name="report-7")
    expect(row).to_contain_text("0.0 MiB")
    expect(row.get_by_role("time")).to_be_visible()
    seen.check()
