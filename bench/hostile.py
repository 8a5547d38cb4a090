"""Hostile texts in every field that a key may write, and floods, while another person's requests are timed.

Prints how long the other person waited at the most, and how many were locked out; both must be none over a second.
"""

import sys
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.bar_row import own_place
from bench.sizes import sized
from tests.doors.http.served import TOKEN, Served, serving
from tests.matrix.homes import quick_folder

_FREEZE_S = 1.0
#: A wait that the machine has by itself, with nobody hostile, is no freeze: this many times the worst of those is.
_TIMES_IDLE = 10
#: What patterns begin to match and never end.
UNITS = (
    *(
        "a",
        "1",
        "A",
        " ",
        "\r",
        "\n",
        "@",
        "a@",
        "a.",
        "-",
        "\t",
        "'",
        "\\",
        "[",
        "(",
        "{",
        "\x85",
        "e\u0301",
        "\u4e00",
    ),
    *("[; by ; trust: ", "<recalled-00000000>", "# Notes\n", "password is ", "I'm living in  ", "my  ", "Dr. "),
    *("12/", "two weeks ago ", "-----BEGIN ", "4111 ", "otpauth://", "```\n", "Anna A", "I  now  work at aa  no  "),
)
_MINUTES = {"server.rate_per_minute": 0, "server.failures_per_minute": 60, "embedding.provider": "none"}


@dataclass(slots=True)
class Watch:
    """How long somebody waited for each of their answers."""

    waits: list[float] = field(default_factory=list[float])
    wrong: list[int] = field(default_factory=list[int])

    @property
    def worst(self) -> float:
        """The longest wait."""
        return max(self.waits, default=0.0)


@contextmanager
def watching(served: Served) -> Generator[Watch]:
    """Ask one simple thing again and again, and time it."""
    watch, stop = Watch(), threading.Event()

    def ask() -> None:
        while not stop.wait(0.02):
            began = time.perf_counter()
            status = served.ask("GET", "/v1/memories?limit=1").status
            watch.waits.append(time.perf_counter() - began)
            if status != 200:
                watch.wrong.append(status)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield watch
    finally:
        stop.set()
        thread.join()


def fields(served: Served) -> Iterator[tuple[str, str, dict[str, Any], str]]:
    """Every field with a text of every route that writes: method, path, the rest of the body, and the field."""
    document = served.ask("GET", "/openapi.json").json
    for path, methods in document["paths"].items():
        for method, about in methods.items():
            content = about.get("requestBody", {}).get("content", {}).get("application/json", {})
            schema = _schema(document, content.get("schema", {}))
            examples: list[dict[str, Any]] = schema.get("examples") or [{}]
            for name, kind in schema.get("properties", {}).items():
                if _takes_text(kind):
                    yield method.upper(), path, examples[0], name


def _schema(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found = next((one for one in (schema, *schema.get("anyOf", ())) if "$ref" in one), None)
    return document["components"]["schemas"][found["$ref"].rpartition("/")[2]] if found else schema


def _takes_text(kind: Mapping[str, Any]) -> bool:
    return any(one.get("type") in ("string", "array") for one in (kind, *kind.get("anyOf", ())))


def attack(served: Served, size: int, units: tuple[str, ...]) -> tuple[int, int, int]:
    """Send each text in each field, and have it consolidated: requests, fields, and how many were taken."""
    session = served.ask("POST", "/v1/sessions", {}).json["session"]["id"]
    memory = served.ask("POST", "/v1/memories", {"content": "tea"}).json["memory"]["id"]
    sent = taken = 0
    places = list(fields(served))
    for method, path, example, name in places:
        where = path.replace("{session_id}", session).replace("{memory_id}", memory).replace("{id}", memory)
        for unit in units:
            text = (unit * (size // len(unit) + 1))[:size]
            answer = served.ask(method, where, {**example, name: text})
            sent += 1
            taken += answer.status < 300
    for said in ("I live in Oslo.", "No, it's Bergen.", "My name is Bob."):
        served.ask("POST", f"/v1/sessions/{session}/messages", {"role": "user", "content": said})
    served.home.vault("user:bob").admin.consolidation.run(session)
    return sent, len(places), taken


def shapes(served: Served, count: int) -> int:
    """Bodies of too many fields, too deep, and too many values; how many were not refused."""
    many = {f"f{number}": number for number in range(count)}
    deep = b"[" * count
    values = b"[" + b"1," * count + b"1]"
    # Together as large as the first: a larger body is refused by its size, before anybody looks at its fields.
    third = {name: many[name] for name in list(many)[: count // 3]}
    bodies = (many, deep, values, {"content": "x", "tool_calls": [third] * 3})
    return sum(served.ask("POST", "/v1/memories", body).status != 422 for body in bodies)


def flood(served: Served, count: int) -> int:
    """Requests of strangers, other sites and guessers; how many of those with a right key were then refused."""
    stranger = served.with_key(None)
    for number in range(count):
        stranger.ask("GET", "/v1/memories")
        stranger.ask("GET", "/v1/memories", Sec_Fetch_Site="cross-site")
        served.with_key(f"rk_{number}").ask("GET", "/v1/memories")
    right = [served.ask("GET", "/v1/memories").status for _ in range(10)]
    right += [served.with_key(TOKEN).ask("GET", "/v1/memories", Recollectum_User="bob").status for _ in range(10)]
    return sum(status != 200 for status in right)


def main() -> None:
    """Attack one server, and say what the others felt of it."""
    with own_place(), quick_folder() as folder, serving(Path(folder) / "home", settings=_MINUTES) as alice:
        bob = alice.with_key(alice.new_key("user:bob"))
        with watching(alice) as idle:
            time.sleep(sized(5.0, 1.0))
        with watching(alice) as during:
            sent, places, taken = attack(bob, sized(400_000, 40_000), sized(UNITS, UNITS[::3]))
            passed = shapes(bob, sized(200_000, 60_000))
            locked = flood(bob, sized(200, 70))
    limit = max(_FREEZE_S, _TIMES_IDLE * idle.worst)
    freezes = sum(wait > limit for wait in during.waits)
    print(f"{sent} requests with hostile texts in {places} fields ({taken} taken), {passed} shapes not refused")
    waited = f"worst wait {during.worst * 1000:.0f} ms of {len(during.waits)}, idle {idle.worst * 1000:.0f} ms"
    print(f"the other person: {waited}")
    print(f"freezes over {limit:.1f} s: {freezes}; lock-outs: {locked + len(during.wrong)} of {20 + len(during.waits)}")
    if freezes or locked or passed or during.wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()
