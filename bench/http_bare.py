"""The bare server of `bench http`: FastAPI routes that run the same SQL statements, and nothing else."""

import pickle
import queue
import socket
import sys
import threading
from pathlib import Path
from typing import Annotated

import apsw
import uvicorn
from fastapi import FastAPI, Header
from pydantic import BaseModel

from bench.http_script import PerVault, Statement
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.full_text.posting_reader import create_vocabulary

#: As many as one of our vaults has.
_READERS = 4
_CACHE_KIB = 8192


class Query(BaseModel):
    """A query, as our own route takes it."""

    query: str
    limit: int = 10


class Add(BaseModel):
    """A new memory, as our own route takes it."""

    content: str


class Store:
    """One file with its connections, and the statements of its recalls and adds."""

    def __init__(self, script: PerVault) -> None:
        self._script = script
        self._readers: queue.SimpleQueue[apsw.Connection] = queue.SimpleQueue()
        for _ in range(_READERS):
            self._readers.put(self._open())
        self._writer = self._open()
        self._lock = threading.Lock()
        self._added = 0

    def recall(self, asked: Query) -> list[object]:
        """Return the rows of the last statement that found any."""
        connection = self._readers.get()
        try:
            return _run(connection, self._script.recalls[asked.query])
        finally:
            self._readers.put(connection)

    def add(self) -> int:
        """Run the next recorded add."""
        with self._lock:
            number = self._added
            self._added += 1
            _run(self._writer, self._script.adds[number])
        return number

    def _open(self) -> apsw.Connection:
        connection = connect(Path(self._script.path), key=self._script.key, cache_kib=_CACHE_KIB)
        create_vocabulary(connection)
        return connection


def _run(connection: apsw.Connection, statements: list[Statement]) -> list[object]:
    found: list[object] = []
    for sql, params in statements:
        found = list(connection.execute(sql, params).fetchall()) or found
    return found


def build(scripts: dict[str, PerVault]) -> FastAPI:
    """Return an app with two routes over all files; a header selects the file."""
    app = FastAPI(openapi_url=None)
    stores = {secret: Store(script) for secret, script in scripts.items()}

    @app.post("/memory/query")
    def query(asked: Query, authorization: Annotated[str, Header()]) -> dict[str, object]:
        rows = stores[authorization.removeprefix("Bearer ")].recall(asked)
        return {"hits": [str(row) for row in rows[: asked.limit]]}

    @app.post("/memory/add")
    def add(added: Add, authorization: Annotated[str, Header()]) -> dict[str, object]:
        number = stores[authorization.removeprefix("Bearer ")].add()
        return {"memory": {"id": str(number), "content": added.content}}

    return app


def serve(path: str) -> None:
    """Serve the scripts of a file on any free port, and print the port."""
    scripts: dict[str, PerVault] = pickle.loads(Path(path).read_bytes())
    server = uvicorn.Server(uvicorn.Config(build(scripts), log_config=None, access_log=False))
    # asyncio sends small packets at once only on a socket that says it is TCP; else each answer waits for 40 ms.
    listening = socket.socket(proto=socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen(2048)
    print(listening.getsockname()[1], flush=True)
    server.run(sockets=[listening])


if __name__ == "__main__":
    serve(sys.argv[1])
