"""Opening a home for hooks: searched by words alone, and for people who are known here."""

import getpass
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from recollectum.domain.ids import Clock, system_clock
from recollectum.domain.owner import Owner, OwnerKind
from recollectum.doors.hook.attending import Attending
from recollectum.doors.hook.trouble import note_trouble
from recollectum.engine import Recollectum
from recollectum.vault.vault import Vault

#: A model of vectors would take longer to load than anybody waits.
_WORDS_ALONE = {"embedding.provider": "none", "recall.rerank": "off"}


def opened_home(root: Path, environ: Mapping[str, str]) -> Recollectum:
    """The open home, for whoever closes it."""
    return Recollectum(root, environ=environ, settings=_WORDS_ALONE)


def attending(recollectum: Recollectum, clock: Clock = system_clock) -> Attending:
    """What answers the events of an open home."""

    def trouble(where: str, error: BaseException) -> None:
        note_trouble(recollectum.home, where, error, clock())

    # Where no conversation is ever read by itself, the end of one is no reason to.
    settings = recollectum.loaded.settings
    return Attending(
        partial(vault_of, recollectum),
        trouble,
        clock,
        reads_ended=settings.consolidation.idle_minutes > 0,
        meaning=settings.embedding.provider != "none",
    )


def vault_of(recollectum: Recollectum, user: str | None) -> Vault:
    """The vault of the person named, who has to be known; without a name, of whoever is meant then."""
    if user is None:
        usual = recollectum.caller.person or _owner(recollectum.loaded.settings.default_user or getpass.getuser())
        return recollectum.vault(usual)
    owner = _owner(user)
    if recollectum.caller.operator:
        recollectum.people.get(owner)
    return recollectum.vault(owner)


def _owner(name: str) -> Owner:
    return Owner.parse(name if ":" in name else f"{OwnerKind.USER}:{name}")
