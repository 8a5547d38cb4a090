"""Safety checkers, by name, that inspect the arguments of a tool where a pattern is not enough."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from recollectum.domain.message import Json
from recollectum.domain.records import dataclass
from recollectum.policy.rules.model import Check
from recollectum.text.secrets.redaction import find_secrets

#: The argument names under which tools take files and folders.
_NAMES = (
    "path paths file files file_path filepath file_name filename absolute_path dir_path dir directory folder cwd "
    "target target_file source destination dest root notebook_path include_directories"
)
_PATH_ARGUMENTS = frozenset(_NAMES.split())
_PROTECTED = (".git", ".ssh", ".gnupg", ".aws", ".recollectum", ".env", ".netrc", ".npmrc", ".pypirc")
_LIMIT = 100_000
_IN_COMMAND = "the command"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignToolUse:
    """The input of a checker."""

    args: Mapping[str, Json]
    #: The words of a shell command without the names of its programs.
    words: tuple[str, ...]
    cwd: Path
    roots: tuple[Path, ...]
    resolve: Callable[[Path], Path]


def check(one: Check, use: ForeignToolUse) -> str | None:
    """Return what the checker finds wrong, or None; never the content of an argument."""
    return CHECKERS[one.checker](one, use)


def _allowed_path(one: Check, use: ForeignToolUse) -> str | None:
    """Return a problem if a path is outside the allowed folders, after links and `..` are resolved."""
    roots = [Path(root) for root in one.option("roots")] or list(use.roots) or [use.cwd]
    for name, text in _paths(one, use):
        path = _resolved(name, text, use)
        if path is None:
            return f"the path in {name} cannot be followed"
        if not any(path.is_relative_to(use.resolve(use.cwd / root)) for root in roots):
            return f"the path in {name} leads outside the allowed folders"
    return None


def _protected_path(one: Check, use: ForeignToolUse) -> str | None:
    """Return a problem if a path leads to keys, credentials or the internals of a repository."""
    names = {name.lower() for name in one.option("names") or _PROTECTED}
    for name, text in _paths(one, use):
        path = _resolved(name, text, use)
        if path is None:
            return f"the path in {name} cannot be followed"
        # Both as written and as resolved: a link may hide either.
        parts = {part.lower() for part in (*path.parts, *Path(text).parts)}
        if parts & names:
            return f"the path in {name} leads to a protected place"
    return None


def _no_secrets(_: Check, use: ForeignToolUse) -> str | None:
    """Return a problem if an argument contains a password, a key or a token."""
    for name, text in _texts("", use.args):
        found = find_secrets(text)
        if found:
            return f"{name} holds a secret of kind {found[0].kind}"
    return None


def _size_limit(one: Check, use: ForeignToolUse) -> str | None:
    """Return a problem if the arguments together have too many characters."""
    limit = int((one.option("limit") or (str(_LIMIT),))[0])
    total = sum(len(text) for _, text in _texts("", use.args))
    return f"the arguments have {total} characters, and {limit} are allowed" if total > limit else None


#: Each checker by its name in policy files.
CHECKERS: dict[str, Callable[[Check, ForeignToolUse], str | None]] = {
    "allowed-path": _allowed_path,
    "protected-path": _protected_path,
    "no-secrets": _no_secrets,
    "size-limit": _size_limit,
}


def _paths(one: Check, use: ForeignToolUse) -> Iterator[tuple[str, str]]:
    names = frozenset(one.option("arguments")) or _PATH_ARGUMENTS
    for name, text in _texts("", use.args):
        if name.rpartition(".")[2] in names:
            yield name, text
    for word in use.words:
        # An option may contain its path after a sign: --output=/etc/passwd
        text = word.partition("=")[2] if word.startswith("-") else word
        if "/" in text or "\\" in text or "$" in text or text.startswith((".", "~")):
            yield _IN_COMMAND, text


def _resolved(name: str, text: str, use: ForeignToolUse) -> Path | None:
    """Return the resolved path, or None when it cannot be determined."""
    if not text or "\0" in text or "://" in text or text.startswith("~") or (name == _IN_COMMAND and "$" in text):
        return None
    try:
        return use.resolve(use.cwd / text)
    except (OSError, RuntimeError, ValueError):
        return None


def _texts(name: str, value: Json | Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Yield every text in a value, with the name of its argument."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(f"{name}.{key}" if name else str(key), inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _texts(name, inner)
