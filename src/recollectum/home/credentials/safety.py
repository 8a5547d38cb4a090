"""How safe the credentials are, in words that claim no more than is true."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recollectum.domain.credential import Held
from recollectum.domain.errors import InvalidInput
from recollectum.home.credentials.keychain import FORCE_VARIABLE

_YES, _NO = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


@dataclass(frozen=True, slots=True, kw_only=True)
class Safety:
    """Where the next secret goes and who can get at it; and how many are where now."""

    holder: Held
    words: str
    #: True when the variable keeps the keyring from being used.
    forced: bool
    in_keyring: int
    in_file: int


def forced(environ: Mapping[str, str]) -> bool:
    """Whether the environment wants the file even where a keyring works."""
    text = environ.get(FORCE_VARIABLE, "").strip().lower()
    if text not in (*_YES, *_NO):
        raise InvalidInput(f"{FORCE_VARIABLE} is neither yes nor no; set it to 1, or leave it out")
    return text in _YES


def tell(backend: str | None, path: Path, key_words: str, held: Sequence[Held], environ: Mapping[str, str]) -> Safety:
    """The state of things as one sentence and two counts."""
    if backend is not None:
        words = f"held by the operating system's keyring ({backend}); other programs of your account can ask for it"
    else:
        words = f"sealed by AES-256-GCM in {path}; {key_words}"
    return Safety(
        holder=Held.FILE if backend is None else Held.KEYRING,
        words=words,
        forced=forced(environ),
        in_keyring=sum(one is Held.KEYRING for one in held),
        in_file=sum(one is Held.FILE for one in held),
    )
