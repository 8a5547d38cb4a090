"""Shows the main job on a sample conversation: `python -m tools.demo`, which `make demo` runs."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from recollectum.domain.memory import Memory
from recollectum.domain.message import Role
from recollectum.engine import Recollectum
from recollectum.vault.sessions.chat import Chat
from recollectum.vault.vault import Vault

OWNER = "user:ada"
SECRET = "The spare key is under the blue kingfisher pot"
#: A word of the secret that occurs nowhere else.
FORGOTTEN = "kingfisher"
KEPT = "vegetarian"
BUDGET = 200

# In a separate process: opening a database file beside SQLite would drop its locks in ours.
_SEARCH = """
import sys
from pathlib import Path
needles = [word.encode() for word in sys.argv[2:]]
files = [path.read_bytes().lower() for path in Path(sys.argv[1]).rglob("*") if path.is_file()]
print(len(files), *(sum(data.count(needle) for data in files) for needle in needles))
"""


@dataclass(frozen=True, slots=True)
class Story:
    """Prints what happens, and records every claim that turned out false."""

    false: list[str] = field(default_factory=list[str])

    def chapter(self, title: str) -> None:
        """Start a chapter."""
        print(f"\n== {title}")

    def say(self, text: str) -> None:
        """Print a line."""
        print(textwrap.indent(text, "   "))

    def claim(self, sentence: str, *, true: bool) -> None:
        """Print a sentence that was checked."""
        self.say(f"{'[ok]' if true else '[FALSE]'} {sentence}")
        if not true:
            self.false.append(sentence)


def main() -> int:
    """Run the whole demo; return 1 when any claim in it is false."""
    # The demo must not leave an entry in the person's own keyring.
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    story = Story()
    print("Recollectum: memory for AI agents. Everything here happens in a temporary folder.")
    with tempfile.TemporaryDirectory(prefix="recollectum-demo-") as folder:
        root = Path(folder)
        _plain_home(story, root)
        _encrypted_home(story, root)
    print()
    if story.false:
        print(f"{len(story.false)} of the demo's own claims were false.", file=sys.stderr)
        return 1
    print(f"Every claim above was checked while you watched. Next: {command()} init")
    return 0


def _plain_home(story: Story, root: Path) -> None:
    """Run it unencrypted and without a grace window, so that a search of the raw files for forgotten words is valid."""
    with _open(root / "plain", encryption="off") as recollectum:
        vault = recollectum.vault(OWNER)
        chat = _record(story, vault)
        memory = _remember(story, vault, chat)
        _recall(story, vault)
        _context(story, vault, chat)
        _edit(story, vault, memory)
        _forget(story, vault)
    _search_plain(story, root / "plain")


def _record(story: Story, vault: Vault) -> Chat:
    story.chapter("Record: both sides of a conversation")
    chat = vault.sessions.open(channel="telegram", agent="main")
    for line in sample():
        message = chat.add(Role(line["role"]), line["content"])
        story.say(f"{message.role:>9}: {message.text}")
    again = vault.sessions.open(channel="telegram", agent="main")
    story.claim("opened again, the same session goes on", true=again.id == chat.id)
    return chat


def _remember(story: Story, vault: Vault, chat: Chat) -> Memory:
    story.chapter("Remember: word for word, without a model")
    source = chat.messages()[2]
    memory = vault.memories.save("Ada is vegetarian", key="diet", kind="preference", message_id=source.id).memory
    story.say(f"{memory.content}  (key {memory.key}, from message {source.position})")
    again = vault.memories.save("Ada is vegetarian.", kind="preference").memory
    story.claim("said again, it is renewed and not kept twice", true=again.id == memory.id)
    return memory


def _recall(story: Story, vault: Vault) -> None:
    story.chapter("Recall: with the place each answer came from")
    question = "What can a vegetarian with a walnut allergy eat?"
    story.say(f"? {question}")
    hits = vault.recall(question, limit=3)
    for hit in hits:
        story.say(f"- {hit.text}")
        story.say(f"    {hit.source}, said by {hit.author}, trust: {hit.trust}")
    story.claim("the memory and the message are found", true=_sources(vault, question) == {"memories", "sessions"})


def _context(story: Story, vault: Vault, chat: Chat) -> None:
    story.chapter(f"Context: what a model would be given, inside a budget of {BUDGET} tokens")
    context = vault.context("What shall we eat on Friday?", session_id=chat.id, tokens=BUDGET)
    story.say(textwrap.indent(context.whole, "| ", lambda _: True))
    story.claim(f"it is at most {context.tokens} tokens long", true=context.tokens <= BUDGET)
    told = context.whole.find("Ada is vegetarian"), context.whole.find("# The conversation")
    story.claim("what was learned stands in it, before the conversation", true=0 <= told[0] < told[1])


def _edit(story: Story, vault: Vault, memory: Memory) -> None:
    story.chapter("Edit: what it said before is kept")
    vault.memories.edit(memory.id, "Ada is vegetarian, but eats fish on holidays")
    versions = vault.memories.history(memory.id).versions
    for version in versions:
        story.say(f"version {version.version}: {version.content}")
    story.claim("the history has both versions", true=[version.version for version in versions] == [1, 2])


def _forget(story: Story, vault: Vault) -> None:
    story.chapter("Forget: for certain")
    memory = vault.memories.save(SECRET).memory
    story.say(f"remembered: {memory.content}")
    story.claim("recall finds it", true=_is_told(vault, FORGOTTEN))
    vault.memories.forget(memory.id)
    story.claim("once forgotten, recall does not find it", true=not _is_told(vault, FORGOTTEN))
    report = vault.admin.lifecycle.run()
    story.claim("the life cycle destroys it and erases what was left of it", true=report.purged == 1 and report.erased)


def _search_plain(story: Story, folder: Path) -> None:
    files, forgotten, kept = search(folder, [FORGOTTEN, KEPT])
    story.say(f"every byte of {files} files of this unencrypted home was searched:")
    story.claim(f"{FORGOTTEN!r}, forgotten: {forgotten} times", true=forgotten == 0)
    story.claim(f"{KEPT!r}, remembered: {kept} times", true=kept > 0)


def _encrypted_home(story: Story, root: Path) -> None:
    story.chapter("The same in an encrypted home, as a home is by default")
    with _open(root / "encrypted", encryption="auto") as recollectum:
        vault = recollectum.vault(OWNER)
        chat = vault.sessions.open(channel="telegram", agent="main")
        for line in sample():
            chat.add(Role(line["role"]), line["content"])
        vault.memories.save(SECRET)
        story.say(f"the key is {recollectum.encryption().holder().words}")
        story.claim("recall finds both words", true=_is_told(vault, FORGOTTEN) and _is_told(vault, KEPT))
    files, secret, kept = search(root / "encrypted", [FORGOTTEN, KEPT])
    story.claim(f"in {files} files they are found {secret + kept} times", true=secret + kept == 0)


def command() -> str:
    """Return the program as a person types it in this folder."""
    program = Path(sys.executable).with_name("recollectum")
    found = shutil.which("recollectum")
    if found is not None and Path(found) == program:
        return "recollectum"
    return str(program.relative_to(Path.cwd()) if program.is_relative_to(Path.cwd()) else program)


def sample() -> list[dict[str, str]]:
    """Return the conversation that is shipped with the package."""
    text = (Path(__file__).parent / "sample" / "conversation.json").read_text(encoding="utf-8")
    return json.loads(text)


def search(folder: Path, words: Sequence[str]) -> Iterable[int]:
    """Return how many files are below the folder, and how often each word occurs in their raw bytes."""
    done = subprocess.run(
        [sys.executable, "-c", _SEARCH, str(folder), *words], check=True, capture_output=True, text=True
    )
    return map(int, done.stdout.split())


def _is_told(vault: "Vault", word: str) -> bool:
    """Return whether recall finds a text that contains the word; a text with a similar meaning does not count."""
    return any(word in hit.text for hit in vault.recall(word))


def _sources(vault: Vault, question: str) -> set[str]:
    return {hit.source.kind.value for hit in vault.recall(question)}


def _open(home: Path, *, encryption: str) -> Recollectum:
    # The account's folders are in the temporary folder too, so that the key file is deleted with it.
    environ = {
        "HOME": str(home.parent),
        "USERPROFILE": str(home.parent),
        "XDG_CONFIG_HOME": str(home.parent / "config"),
    }
    return Recollectum(home, environ=environ, settings={"encryption": encryption, "lifecycle.grace_days": 0})


if __name__ == "__main__":
    sys.exit(main())
