"""Chooses the holder of the master key (passphrase, keyring or key file) and stores, reads and drops the key there."""

import hmac
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from recollectum.domain.errors import InvalidInput, KeyProblem, WrongKey
from recollectum.domain.message import Json
from recollectum.domain.records import dataclass
from recollectum.home.keys import key_file, keyring_holder, passphrase
from recollectum.home.keys.wrapping import MasterKey

PASSPHRASE_VARIABLE = "RECOLLECTUM_PASSPHRASE"


class HolderKind(StrEnum):
    """The kind of holder of the master key."""

    KEYRING = "keyring"
    PASSPHRASE = "passphrase"
    KEY_FILE = "key_file"
    OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyHolder:
    """Who holds the key, in plain words."""

    kind: HolderKind
    words: str
    #: The key file, if there is one.
    path: str | None = None
    recovery_code_made_at: datetime | None = None
    #: The keys database that has the wrapped keys; None where they are in the home.
    keys: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HolderRecord:
    """What the key store records about the holder; it never contains the key."""

    kind: HolderKind
    detail: Mapping[str, Json]
    fingerprint: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class HolderOptions:
    """The ways of holding a key that this call and this machine offer."""

    home: Path
    home_id: str
    environ: Mapping[str, str] = field(repr=False)
    #: The setting; empty for the default path.
    key_file: str = ""
    passphrase: str | None = field(default=None, repr=False)
    #: Whether several hosts use the home's keys, each of which holds the master key in its own way.
    is_shared: bool = False


OFF = KeyHolder(kind=HolderKind.OFF, words="not encrypted")


def establish(means: HolderOptions) -> tuple[HolderRecord, MasterKey]:
    """Create a master key for a new home, and verify that the first working holder stores it."""
    # A given passphrase is used: a home that opened without it would be a surprise.
    chosen = choose(means)
    if chosen is not HolderKind.KEY_FILE:
        master = MasterKey.new()
        return keep(chosen, master, means), master
    # An existing key is from the person, or from an interrupted creation.
    file = key_file.place(means.key_file, means.home_id, means.environ)
    key_file.check_outside(file.path, means.home)
    master = key_file.find(file.path) or MasterKey.new()
    return keep(HolderKind.KEY_FILE, master, means), master


def choose(means: HolderOptions) -> HolderKind:
    """Choose the holder: a given passphrase, else a working keyring, else a file."""
    if means.passphrase:
        return HolderKind.PASSPHRASE
    return HolderKind.KEYRING if keyring_holder.available() else HolderKind.KEY_FILE


def keep(kind: HolderKind, master: MasterKey, means: HolderOptions) -> HolderRecord:
    """Store the key with a holder; it is durable and was read back when this returns."""
    detail: Mapping[str, Json]
    match kind:
        case HolderKind.KEYRING:
            detail = keyring_holder.keep(means.home_id, master)
        case HolderKind.PASSPHRASE:
            if not means.passphrase:
                raise InvalidInput(f"no passphrase was given; set {PASSPHRASE_VARIABLE} or type one")
            detail = passphrase.keep(means.home_id, master, means.passphrase)
        case HolderKind.KEY_FILE:
            file = key_file.place(means.key_file, means.home_id, means.environ)
            written = key_file.keep(file, master, means.home)
            detail = {"path": str(file.path), "ours": written or file.named_for_home}
        case HolderKind.OFF:
            raise InvalidInput(
                "the key needs a holder; to turn encryption off, set encryption to off before making a home"
            )
    record = HolderRecord(kind=kind, detail=detail, fingerprint=master.fingerprint())
    if fetch(record, means) != master:
        raise KeyProblem(f"the {kind} did not give the key back; choose another holder")
    return record


def fetch(record: HolderRecord, means: HolderOptions) -> MasterKey:
    """Return the master key from its holder; raise an error with the holder, the finding and the cure."""
    return fetch_all(record, means)[0]


def fetch_all(record: HolderRecord, means: HolderOptions) -> list[MasterKey]:
    """Return every key that the holder has, the recorded one first; a second one is of a change of the master key."""
    match record.kind:
        case HolderKind.KEYRING:
            found, where = keyring_holder.fetch_all(means.home_id, record.detail), "the operating system's keyring"
        case HolderKind.PASSPHRASE:
            found = [passphrase.fetch(means.home_id, record.detail, means.passphrase)]
            where = "the passphrase's record"
        case HolderKind.KEY_FILE:
            path = _path(record, means)
            found, where = key_file.fetch_all(path), f"the key file {path}"
        case HolderKind.OFF:
            raise KeyProblem("this home is not encrypted, so it has no key")
    right = [key for key in found if hmac.compare_digest(key.fingerprint(), record.fingerprint)]
    if not right:
        whose = "is not the present one of these hosts" if means.is_shared else "belongs to another home"
        right_one = "copy it from another host" if means.is_shared else "restore the right one"
        raise WrongKey(f"the key in {where} {whose}; {right_one}, or run: recollectum encryption recover")
    return right + [key for key in found if key not in right]


def on_this_host(record: HolderRecord, means: HolderOptions) -> HolderRecord:
    """Return the holder as this host has it: the recorded one, or else a key file or keyring with the same key.

    Several hosts share the record, and the path of a key file or the name of a keyring may be another host's.
    """
    if record.kind is HolderKind.PASSPHRASE and means.passphrase:
        return record
    file = key_file.place(means.key_file, means.home_id, means.environ)
    detail: Mapping[str, Json] = {"path": str(file.path), "ours": file.named_for_home}
    own = HolderRecord(kind=HolderKind.KEY_FILE, detail=detail, fingerprint=record.fingerprint)
    if record.kind is not HolderKind.PASSPHRASE and _gives(record, means):
        return record
    # The trial that finds a keyring writes to it, so it comes last.
    if _gives(own, means):
        return own
    backend = keyring_holder.usable()
    if backend is None:
        return record
    entry = keyring_holder.entry(means.home_id, backend)
    found = HolderRecord(kind=HolderKind.KEYRING, detail=entry, fingerprint=record.fingerprint)
    return found if _gives(found, means) else record


def _gives(record: HolderRecord, means: HolderOptions) -> bool:
    try:
        fetch_all(record, means)
    except KeyProblem:
        return False
    return True


def keep_beside(record: HolderRecord, old: MasterKey, new: MasterKey, means: HolderOptions) -> HolderRecord:
    """Store a new key with the holder, which keeps the old one too until `drop_others`; return its record."""
    detail = record.detail
    match record.kind:
        case HolderKind.KEYRING:
            keyring_holder.put(means.home_id, detail, (old, new))
        case HolderKind.KEY_FILE:
            path = _path(record, means)
            if detail.get("ours") is not True:
                raise KeyProblem(
                    f"the key file {path} was there before this home, so another home may use it, and it is not "
                    "changed; move the key of this home first, with: recollectum encryption passphrase"
                )
            key_file.put(path, (old, new))
            detail = {**detail, "path": str(path)}
        case _:
            return keep(record.kind, new, means)
    made = HolderRecord(kind=record.kind, detail=detail, fingerprint=new.fingerprint())
    if fetch(made, means) != new:
        raise KeyProblem(f"the {record.kind} did not give the key back; choose another holder")
    return made


def drop_others(record: HolderRecord, means: HolderOptions) -> None:
    """Delete every key from the holder but the recorded one."""
    found = fetch_all(record, means)
    if len(found) > 1 and record.kind is HolderKind.KEYRING:
        keyring_holder.put(means.home_id, record.detail, found[:1])
    elif len(found) > 1:
        key_file.put(_path(record, means), found[:1])


def drop(record: HolderRecord, means: HolderOptions) -> None:
    """Delete the key from its holder; a key file that somebody else created stays."""
    match record.kind:
        case HolderKind.KEYRING:
            keyring_holder.drop(means.home_id, record.detail)
        case HolderKind.KEY_FILE if record.detail.get("ours") is True:
            key_file.drop(Path(str(record.detail.get("path", ""))))
        case _:
            pass


def same_place(old: HolderRecord, new: HolderRecord) -> bool:
    """Return whether the new record replaced the old one in place, so that nothing is left to delete."""
    return old.kind is new.kind and old.detail.get("path") == new.detail.get("path")


def describe(record: HolderRecord, means: HolderOptions, recovery_code_made_at: datetime | None) -> KeyHolder:
    """Describe the holder in plain words."""
    path: str | None = None
    match record.kind:
        case HolderKind.KEYRING:
            words = "held by the operating system's keyring; other programs of your account can ask for it"
        case HolderKind.PASSPHRASE:
            words = "held by a passphrase, which is kept nowhere; without it or the recovery code nothing can be read"
        case HolderKind.KEY_FILE:
            path = str(_path(record, means))
            words = (
                f"held in a file at {path}: a copy of the data without this file cannot be read; "
                "programs running as you can read it"
            )
        case HolderKind.OFF:
            words = OFF.words
    return KeyHolder(kind=record.kind, words=words, path=path, recovery_code_made_at=recovery_code_made_at)


def _path(record: HolderRecord, means: HolderOptions) -> Path:
    """Return the path of the key file: the setting has precedence, because the file may have been moved."""
    recorded = Path(str(record.detail.get("path", "")))
    if not means.key_file:
        return recorded
    named = key_file.place(means.key_file, means.home_id, means.environ).path
    return named if named.exists() else recorded
