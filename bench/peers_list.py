"""Lists the memory systems to compare with, and installs each into its own virtual environment."""

import subprocess
import sys
import tempfile
from pathlib import Path

from recollectum.domain.records import dataclass

#: Where the environments are kept between runs, together about 1.5 GB.
FOLDER = Path(tempfile.gettempdir()) / "recollectum-peers"
_READY = "ready"
_SECONDS = 900


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerSystem:
    """One system: its package, and what it needs as its authors ship it."""

    name: str
    title: str
    packages: tuple[str, ...]
    model: str
    network: str

    @property
    def package(self) -> str:
        """The package whose version is shown, or an empty text for a part of Python."""
        return self.packages[0] if self.packages else ""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """The reason why a system has no figures in this run."""

    why: str


PEERS = (
    PeerSystem(name="text-file", title="a text file, lines by shared words", packages=(), model="none", network="no"),
    PeerSystem(name="fts5", title="SQLite FTS5 (BM25)", packages=(), model="none", network="no"),
    PeerSystem(
        name="chroma",
        title="Chroma, a collection per person",
        packages=("chromadb",),
        model="embedder",
        network="once, for the model",
    ),
    PeerSystem(
        name="langgraph",
        title="LangGraph SqliteStore",
        packages=("langgraph-checkpoint-sqlite",),
        model="an embedder of yours",
        network="as the embedder",
    ),
    PeerSystem(
        name="mem0",
        title="mem0, local Qdrant, infer=False",
        packages=("mem0ai",),
        model="language model and embedder",
        network="yes, OpenAI unless changed",
    ),
    PeerSystem(
        name="mempalace", title="MemPalace", packages=("mempalace",), model="embedder", network="once, for the model"
    ),
    PeerSystem(
        name="mcp-memory-service",
        title="mcp-memory-service",
        packages=("mcp-memory-service",),
        model="embedder",
        network="once, for the model",
    ),
)
#: Systems that cannot be run beside us without a language model, a server or another Python, with the reason.
NOT_RUN = {
    "basic-memory": "needs Python 3.12, and searches Markdown notes",
    "Letta": "an agent server; every write is a call of a language model",
    "Zep, Graphiti": "a graph database; every write is a call of a language model",
    "Hindsight": "PostgreSQL and a language model",
    "Claude's own memory": "part of a closed program",
}


def interpreter(peer: PeerSystem, folder: Path, python: str) -> Path | Unavailable:
    """Return the Python that can import the system, after installing it where that was not done yet."""
    if not peer.packages:
        return Path(sys.executable)
    place = folder / peer.name
    if not (place / _READY).exists():
        print(f"installing {' '.join(peer.packages)} into {place}", file=sys.stderr, flush=True)
        if why := _install(place, peer.packages, python):
            return Unavailable(why)
        (place / _READY).touch()
    return place / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def _install(place: Path, packages: tuple[str, ...], python: str) -> str | None:
    """Make an environment with the packages; return why that failed, or None."""
    maker = [python, "-m", "venv", "--without-pip", "--clear", str(place)]
    pip = [sys.executable, "-m", "pip", "--python", str(place), "install", "--quiet", "--disable-pip-version-check"]
    for command in (maker, [*pip, *packages]):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{command[0]} failed: {error}"
        if done.returncode:
            return last_line(done.stderr)
    return None


def last_line(text: str) -> str:
    """Return the last line that says something."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it said nothing")
