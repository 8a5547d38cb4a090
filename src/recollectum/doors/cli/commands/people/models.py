"""`recollectum models`: lists the models that can be used, which one is, and what each still needs."""

from typing import TYPE_CHECKING

import typer

from recollectum.domain.access.credential import CredentialKind
from recollectum.doors.cli.terminal.flags import Run, command
from recollectum.doors.cli.terminal.output import answer_rows, note
from recollectum.doors.cli.terminal.target import home_of, open_home, settings_of
from recollectum.upkeep.presence import is_made

if TYPE_CHECKING:
    from recollectum.models.registry.choices import ModelChoice

_WITHOUT = {
    "embedding": "words are compared, not meaning",
    "language": "rules read conversations, and only propose memories",
    "rerank": "hits keep the order of the search",
}


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "models")(models)


def models(run: Run) -> None:
    """List the models for search and for reading conversations: which is in use, and what each needs."""
    # Imported here: `--help` must not load the providers.
    from recollectum.models.registry.choices import CHOSEN_BY, list_choices  # noqa: PLC0415

    kept = _kept_keys(run)
    found = list_choices(settings_of(run).settings, run.environ, lambda variable: variable in kept)
    rows = [
        (one.use, one.provider, one.model, "yes" if one.active else "", one.place, _cost(one), _state(one))
        for one in found
    ]
    headings = ("for", "provider", "model", "in use", "computed on", "costs", "state")
    answer_rows(run, {"models": found, "settings": CHOSEN_BY}, headings, rows)
    if not run.json:
        note(f"choose one: recollectum settings set SETTING PROVIDER; the settings are {', '.join(CHOSEN_BY.values())}")


def _kept_keys(run: Run) -> frozenset[str]:
    """Return the names of the keys that the home keeps; a home that is not made yet has none."""
    if not is_made(home_of(run)):
        return frozenset()
    from recollectum.home.credentials.store import Credentials  # noqa: PLC0415 - few commands read them

    with open_home(run) as recollectum:
        if not recollectum.caller.operator:
            # The keys of the home are not those of a caller with an API key.
            return frozenset()
        kept = Credentials(recollectum.home, recollectum.encryption(), environ=run.environ).all()
    return frozenset(one.service for one in kept if one.kind is CredentialKind.API_KEY)


def _cost(one: "ModelChoice") -> str:
    return "by its provider" if one.paid else "nothing"


def _state(one: "ModelChoice") -> str:
    if one.provider in ("none", "off"):
        return _WITHOUT[one.use]
    if one.ready is None:
        return f"not checked; needs {one.needs}"
    return "ready" if one.ready else f"needs {one.needs}"
