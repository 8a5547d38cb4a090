"""Runs many clients at once, each on its own keep-alive connection, and records requests and times."""

import asyncio
import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypedDict
from urllib.parse import urlsplit

RECALLS = 0.8


class Plan(TypedDict):
    """Who asks what, where and for how long."""

    url: str
    secrets: list[str]
    queries: list[str]
    seconds: float
    #: The most adds of each client; after that it only recalls.
    adds: int
    seed: int


@dataclass(slots=True)
class Heard:
    """The results of all clients."""

    milliseconds: list[float] = field(default_factory=list[float])
    refused: int = 0
    #: The content of every acknowledged add, by the number of its client.
    kept: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    #: Whether the server disappeared during the run.
    cut: bool = False


async def run(plan: Plan) -> Heard:
    """Let every client send requests until the time is over, or the server is gone."""
    heard = Heard()
    ends = time.perf_counter() + plan["seconds"]
    await asyncio.gather(*(_client(plan, number, ends, heard) for number in range(len(plan["secrets"]))))
    return heard


async def _client(plan: Plan, number: int, ends: float, heard: Heard) -> None:
    chance = random.Random(plan["seed"] * 1000 + number)
    parts = urlsplit(plan["url"])
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    head = (
        f"Host: {parts.netloc}\r\nAuthorization: Bearer {plan['secrets'][number]}\r\nContent-Type: application/json\r\n"
    )
    added = 0
    try:
        while time.perf_counter() < ends:
            add = added < plan["adds"] and chance.random() >= RECALLS
            text = f"client {number} of run {plan['seed']} likes number {added} best"
            body = {"content": text} if add else {"query": chance.choice(plan["queries"]), "limit": 10}
            began = time.perf_counter()
            status = await _ask(
                reader, writer, "/memory/add" if add else "/memory/query", head, json.dumps(body).encode()
            )
            heard.milliseconds.append((time.perf_counter() - began) * 1000)
            if status != 200:
                heard.refused += 1
            elif add:
                heard.kept.append((number, text))
            added += add
    except (OSError, asyncio.IncompleteReadError):
        heard.cut = True
    finally:
        writer.close()


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, head: str, body: bytes) -> int:
    writer.write(f"POST {path} HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = next(line for line in answer.split("\r\n") if line.startswith("content-length:"))
    await reader.readexactly(int(length.partition(":")[2]))
    return int(answer.split(" ", 2)[1])


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that this share of them does not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0.0


if __name__ == "__main__":
    print("begun", flush=True)
    told = asyncio.run(run(json.loads(sys.stdin.read())))
    print(json.dumps({"milliseconds": told.milliseconds, "refused": told.refused, "kept": told.kept, "cut": told.cut}))
