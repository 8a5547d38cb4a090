"""The TypeScript client is built, and talks to a real server from Node."""

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.doors.console.browsers import browser
from tests.doors.http.served import Served, serving
from tests.tools.npm import node, node_package
from tools.typescript import FILE, document, type_of, types

_ROOT = Path(__file__).parents[2]
_FOLDER = _ROOT / "clients" / "typescript"
_COMPILER = "5.9.3"
pytestmark = [pytest.mark.process, pytest.mark.network]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the package with its compiled files."""
    compiler = node_package("typescript", _COMPILER)
    place = tmp_path_factory.mktemp("typescript") / "recollectum"
    shutil.copytree(_FOLDER, place, ignore=shutil.ignore_patterns("node_modules", "dist"))
    line = [str(node()), str(compiler / "bin" / "tsc"), "--project", str(place)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return place


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path / "home") as running:
        yield running


def _run(built: Path, served: Served, program: str) -> str:
    """Run a program that has the client `r`, and return what it prints."""
    head = (
        f"import {{ Recollectum, RecollectumError }} from {json.dumps((built / 'dist' / 'index.js').as_uri())};\n"
        f"const url = 'http://127.0.0.1:{served.port}';\n"
        "const r = new Recollectum({ url, key: process.env.KEY });\n"
    )
    file = built.parent / f"program{os.urandom(4).hex()}.mjs"
    file.write_text(head + program, "utf-8")
    environ = {**os.environ, "KEY": served.secret or ""}
    done = subprocess.run([str(node()), str(file)], capture_output=True, text=True, check=False, env=environ)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_types_are_those_of_the_routes() -> None:
    assert (_ROOT / FILE).read_text("utf-8") == types(document()), "run: make docs"


def test_the_compiler_is_the_one_that_the_package_names() -> None:
    assert json.loads((_FOLDER / "package.json").read_text())["devDependencies"]["typescript"] == _COMPILER


@pytest.mark.parametrize(
    ("schema", "type"),
    [
        ({"type": "string"}, "string"),
        ({"type": ["integer", "null"]}, "number | null"),
        ({"enum": ["a", "b"]}, '"a" | "b"'),
        ({"type": "array", "items": {"$ref": "#/components/schemas/Memory"}}, "Array<Memory>"),
        ({"type": "object", "additionalProperties": {"type": "number"}}, "Record<string, number>"),
        ({"properties": {"a-b": {"type": "string"}, "c": {}}, "required": ["c"]}, '{ "a-b"?: string; c: unknown }'),
    ],
)
def test_a_schema_becomes_a_type(schema: dict[str, object], type: str) -> None:
    assert type_of(schema) == type


@pytest.mark.loopback
def test_memories_are_saved_found_edited_listed_and_forgotten(built: Path, served: Served) -> None:
    out = _run(
        built,
        served,
        """
        const saved = await r.memories.save("Grace drinks green tea", { key: "tea" });
        await r.memories.save("the kettle is blue");
        await r.memories.edit(saved.memory.id, { content: "Grace drinks black tea" });
        const found = await r.recall("what does Grace drink?");
        const all = [];
        for await (const one of r.memories.all({ limit: 1 })) all.push(one.content);
        const context = await r.context("tea for Grace");
        const history = await r.memories.history(saved.memory.id);
        await r.memories.forget(saved.memory.id);
        const left = (await r.memories.list()).items.map((one) => one.content);
        console.log(JSON.stringify({
          outcome: saved.outcome, first: found.hits[0].text, all, left,
          context: context.text.includes("black tea"), versions: history.versions.length,
        }));
        """,
    )
    assert json.loads(out) == {
        "outcome": "created",
        "first": "Grace drinks black tea",
        "all": ["the kettle is blue", "Grace drinks black tea"],
        "left": ["the kettle is blue"],
        "context": True,
        "versions": 2,
    }


@pytest.mark.loopback
def test_two_conversations_and_two_people(built: Path, served: Served) -> None:
    bob = served.new_key("user:bob")
    out = _run(
        built,
        served,
        f"""
        const bob = new Recollectum({{ url, key: {json.dumps(bob)} }});
        const first = await r.sessions.open({{ channel: "web" }});
        await r.sessions.add(first.id, "user", "My cat is called Miso");
        await r.sessions.end(first.id);
        const second = await r.sessions.open({{ channel: "web" }});
        const mine = await r.recall("what is my cat called?");
        const theirs = await bob.recall("what is my cat called?");
        const said = await r.sessions.messages(first.id);
        console.log(JSON.stringify([first.id !== second.id, mine.hits[0].text, theirs.hits.length, said.items.length]));
        """,
    )
    assert json.loads(out) == [True, "My cat is called Miso", 0, 1]


@pytest.mark.loopback
def test_errors_are_in_words_and_keys_stay_on_this_machine(built: Path, served: Served) -> None:
    out = _run(
        built,
        served,
        """
        const words = [];
        const note = (error) => words.push([error.status, error.message]);
        const tried = async (work) => { try { await work(); } catch (error) { note(error); } };
        await tried(() => r.memories.get("mem_none"));
        await tried(() => r.memories.get(""));
        await tried(() => new Recollectum({ url, key: "rk_wrong" }).memories.list());
        await tried(async () => new Recollectum({ url: "http://memory.example", key: "rk_x" }));
        await tried(async () => new Recollectum({ url, key: "" }));
        await tried(() => new Recollectum({ url: "http://127.0.0.1:9", key: "rk_x", retries: 1 }).memories.list());
        console.log(JSON.stringify(words));
        """,
    )
    statuses, messages = zip(*json.loads(out), strict=True)
    assert statuses == (404, 0, 401, 0, 0, 0)
    assert "https:// only" in messages[3]
    assert "recollectum keys create" in messages[4]
    assert "no answer from http://127.0.0.1:9" in messages[5]


@pytest.mark.loopback
def test_a_write_that_is_sent_again_is_done_once(built: Path, served: Served) -> None:
    out = _run(
        built,
        served,
        """
        let calls = 0;
        const losing = async (...given) => {
          const answer = await fetch(...given);
          if (++calls < 3) throw new TypeError("the answer was lost");
          return answer;
        };
        const lossy = new Recollectum({ url, key: process.env.KEY, fetch: losing });
        const saved = await lossy.memories.save("said once");
        const busy = async () => (++calls < 6 ? new Response("", { status: 503, headers: { "retry-after": "0" } })
          : new Response(JSON.stringify({ memories: [], next: null })));
        await new Recollectum({ url, key: "rk_x", fetch: busy }).memories.list();
        console.log(JSON.stringify([saved.memory.content, calls, (await r.memories.list()).items.length]));
        """,
    )
    assert json.loads(out) == ["said once", 6, 1]


@contextmanager
def _pages(folder: Path) -> Generator[str]:
    """Another site, which serves the files of a folder; its origin."""
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://localhost:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@pytest.mark.loopback
@pytest.mark.browser
@pytest.mark.parametrize("is_allowed", [True, False], ids=["allowed", "not allowed"])
def test_a_page_calls_it_from_an_allowed_origin_alone(built: Path, tmp_path: Path, *, is_allowed: bool) -> None:
    (built / "page.html").write_text("<!doctype html><title>page</title>")
    program = """async ([url, key]) => {
        const { Recollectum } = await import("/dist/index.js");
        const r = new Recollectum({ url, key, retries: 0 });
        try {
            await r.memories.save("said on a page");
            return (await r.recall("said on a page")).hits[0].text;
        } catch (error) {
            return `refused ${error.status}`;
        }
    }"""
    with _pages(built) as origin, browser() as chromium:
        settings = {"server.origins": origin} if is_allowed else {}
        with serving(tmp_path / "home", settings=settings) as served:
            page = chromium.new_page()
            page.goto(f"{origin}/page.html")
            said = page.evaluate(program, [f"http://127.0.0.1:{served.port}", served.secret])
            kept = [one.content for one in served.home.vault("user:alice").memories.list()]
    assert (said, kept) == (("said on a page", ["said on a page"]) if is_allowed else ("refused 0", []))
