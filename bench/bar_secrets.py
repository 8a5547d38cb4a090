"""Measures what must not be readable: keys, secrets in messages, content in logs and errors, files of others."""

import logging
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from bench.bar_row import Measured, own_place
from bench.redaction_examples import FORMED, NAMED, examples, ordinary_lines
from recollectum import Recollectum
from recollectum.domain.errors import RecollectumError
from recollectum.text.secrets.redaction import redact
from tests.crashes.programs import run
from tests.matrix import oracle
from tests.matrix.checks import seen, told
from tests.matrix.homes import Turning, copy_home, open_home, quick_folder
from tests.matrix.operations import attempts
from tests.matrix.world import NOW, build, enter, load

_PREFIX = "rk_"
#: 256 bits in base64 without padding.
_LENGTH = 43
_PRIVATE = 0o077


def keys_at_rest(*, long: bool, plant: Callable[[Path, str], None] = lambda _, __: None) -> Measured:
    """Create and use keys, then search for them in every file of an unencrypted home."""
    count = 50 if long else 5
    with own_place() as folder:
        with open_home(folder, Turning()) as home:
            home.people.add("user:ann")
            made = [home.keys.add("user:ann")[1] for _ in range(count)]
            for secret in made:
                home.login(secret)
        plant(folder, made[0])
        words = [part for secret in made for part in (secret, secret.removeprefix(_PREFIX)[:20])]
        hits = len(run("tests.faults.grepping_program", str(folder), *words))
    short = sum(len(secret.removeprefix(_PREFIX)) < _LENGTH for secret in made)
    said = f"{hits} hits of {count} keys, {short} under 256 bits, {count - len(set(made))} twice"
    return Measured(said, hits == 0 and short == 0 and len(set(made)) == count)


def redaction(*, long: bool, hide: Callable[[str], str] = lambda text: redact(text).text) -> Measured:
    """Count secrets of every kind that are left after redaction, and ordinary lines that were changed."""
    each, plain = (200, 10_000) if long else (50, 2000)
    kinds = (*FORMED, *NAMED)
    found = sum(secret not in hide(text) for kind in kinds for text, secret in examples(kind, each))
    recall = found / (each * len(kinds))
    lines = list(ordinary_lines(plain))
    began = time.perf_counter()
    spoilt = sum(hide(line) != line for line in lines) / plain
    took = (time.perf_counter() - began) * 1000 / plain
    said = (
        f"recall {recall:.3f} over {len(kinds)} kinds × {each}, {spoilt:.2%} of {plain} lines spoilt, "
        f"{took:.2f} ms for a message (printed only)"
    )
    return Measured(said, recall >= 0.95 and spoilt <= 0.01 and len(kinds) >= 16)


class _Kept(logging.Handler):
    """Collects everything that any logger gets, as it would be written."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.getMessage()} {record.exc_info} {vars(record)}")


def silent_logs(*, long: bool, also: Callable[[], None] = lambda: None) -> Measured:
    """Run every operation as every caller with all logs at debug level, and search logs and errors for canaries."""
    kept, root = _Kept(), logging.getLogger()
    level = root.level
    root.addHandler(kept)
    root.setLevel(logging.DEBUG)
    try:
        with own_place(), quick_folder() as folder:
            build(folder / "world")
            callers = [one for one in oracle.RIGHTS if long or one in ("operator", "alice", "dave")]
            errors = [one for caller in callers for one in _errors(folder, caller)]
            written = [line for one in folder.glob("*/home/logs/*") for line in one.read_text().splitlines()]
        also()
    finally:
        root.removeHandler(kept)
        root.setLevel(level)
    hits = sum(bool(seen(line)) for line in (*kept.lines, *written))
    shown = sum(bool(seen(line)) for line in errors)
    said = f"{hits} of {len(kept.lines) + len(written)} log lines, {shown} of {len(errors)} errors hold content"
    return Measured(said, hits == shown == 0 and len(errors) > 0 and len(written) > 0)


def _errors(folder: Path, caller: str) -> list[str]:
    found: list[str] = []
    copy = copy_home(folder / "world", folder / caller)
    world = load(copy)
    with open_home(copy, Turning(NOW), settings={"log.level": "debug"}) as home:
        view = enter(home, world, caller)
        assert view is not None
        for owner in oracle.RIGHTS[caller]:
            for attempt in attempts(world.held[owner]):
                text, error = told(lambda a=attempt, o=owner, v=view: a.run(v.vault(o)))
                found += [text] if error else []
    return found


def private_files(*, long: bool, loosen: Callable[[Path], None] = lambda _: None) -> Measured:
    """Check a home without its key, and the modes of all its files while it is written."""
    with own_place() as folder:
        key = folder / "user"
        with Recollectum(folder / "home", settings={"key_file": str(key / "key")}) as home:
            for number in range(200 if long else 20):
                home.vault("user:ann").memories.save(f"number {number}")
            loosen(folder / "home")
            modes = [path.stat().st_mode & _PRIVATE for path in (folder / "home").rglob("*")]
        shutil.rmtree(key)
        opened = _opens(folder / "home", str(key / "key"))
    loose = sum(bool(mode) for mode in modes)
    said = f"{'opens' if opened else 'does not open'} without its key, {loose} of {len(modes)} files open to others"
    return Measured(said, not opened and loose == 0)


def _opens(home: Path, key_file: str) -> bool:
    try:
        with Recollectum(home, settings={"key_file": key_file}) as r:
            return bool(r.vault("user:ann").memories.list())
    except RecollectumError:
        return False
