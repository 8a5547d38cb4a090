"""Opening a home for hooks: searched by words alone, and for people who are known here."""

import getpass
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from recollect.domain.ids import Clock, system_clock
from recollect.domain.owner import Owner, OwnerKind
from recollect.doors.hook.attending import Attending
from recollect.doors.hook.trouble import note_trouble
from recollect.engine import Recollect
from recollect.vault.vault import Vault

#: A model of vectors would take longer to load than anybody waits.
_WORDS_ALONE = {"embedding.provider": "none", "recall.rerank": "off"}


def opened_home(root: Path, environ: Mapping[str, str]) -> Recollect:
    """The open home, for whoever closes it."""
    return Recollect(root, environ=environ, settings=_WORDS_ALONE)


def attending(recollect: Recollect, clock: Clock = system_clock) -> Attending:
    """What answers the events of an open home."""

    def trouble(where: str, error: BaseException) -> None:
        note_trouble(recollect.home, where, error, clock())

    # Where no conversation is ever read by itself, the end of one is no reason to.
    settings = recollect.loaded.settings
    return Attending(
        partial(vault_of, recollect),
        trouble,
        clock,
        reads_ended=settings.consolidation.idle_minutes > 0,
        meaning=settings.embedding.provider != "none",
    )


def vault_of(recollect: Recollect, user: str | None) -> Vault:
    """The vault of the person named, who has to be known; without a name, of whoever is meant then."""
    if user is None:
        usual = recollect.caller.person or _owner(recollect.loaded.settings.default_user or getpass.getuser())
        return recollect.vault(usual)
    owner = _owner(user)
    if recollect.caller.operator:
        recollect.people.get(owner)
    return recollect.vault(owner)


def _owner(name: str) -> Owner:
    return Owner.parse(name if ":" in name else f"{OwnerKind.USER}:{name}")
