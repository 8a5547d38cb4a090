"""Finds the project that a name, an id or a path means, adds it on first use, and finds what other projects own."""

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.files.project import (
    Project,
    ProjectScope,
    check_project_name,
    is_project_id,
    is_project_name,
    name_for,
)
from recollectum.domain.proposal import Span
from recollectum.domain.records import dataclass
from recollectum.domain.session import Session
from recollectum.home.project import hash_root, project_id
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import messages, projects, sessions
from recollectum.vault.gate import Gate


@dataclass(frozen=True, slots=True)
class ProjectPlace:
    """What a caller named as a project, with the ids of its folder and of those above it, nearest first."""

    text: str
    #: Empty for a name or an id.
    ids: tuple[str, ...] = ()
    #: The resolved folder; None for a name or an id.
    root: Path | None = None
    #: Whether there is no such folder, as far as the caller may know.
    missing: bool = False


def parse_place(text: str, gate: Gate) -> ProjectPlace:
    """Return the place that a text names, before any transaction is open.

    Only for the operator of the home, a path is looked up on this machine: links are followed, and the folder has to
    exist. Others, who may be on another machine, name a folder by its resolved path, and learn nothing of ours.
    """
    if not text.strip():
        raise InvalidInput("the project is empty; give its name or its folder")
    if is_project_id(text) or is_project_name(text):
        return ProjectPlace(text)
    path = Path(text)
    if "\0" in text or not path.is_absolute():
        raise InvalidInput(f"project {text!r} is neither a name nor an absolute path; use a-z, 0-9 and -, or a path")
    if not gate.caller.operator:
        root = Path(os.path.normpath(path))
        return ProjectPlace(text, tuple(hash_root(one) for one in (root, *root.parents)), root)
    try:
        root = path.resolve()
        return ProjectPlace(text, tuple(project_id(one) for one in (root, *root.parents)), root, not root.is_dir())
    except (OSError, RuntimeError, ValueError):
        raise InvalidInput(f"the path {text!r} of a project cannot be resolved; use another") from None


def parse_optional_place(text: str | None, gate: Gate) -> ProjectPlace | None:
    """Return the place that a text names; None for none."""
    return None if text is None else parse_place(text, gate)


def find_project_of(known: Sequence[Project], place: ProjectPlace) -> Project | None:
    """Return the project of a name, an id, or a folder that is in it; forgotten ones are found by id and folder."""
    if place.root is None:
        return next((one for one in known if place.text == one.name or place.text in one.ids), None)
    owners = {root: one for one in known for root in one.ids}
    return next((owners[one] for one in place.ids if one in owners), None)


def get_project(tx: Tx, place: ProjectPlace) -> Project:
    """Return the project of a place; raise when there is none."""
    found = find_project_of(projects.everything(tx), place)
    if found is None:
        raise NotFound(
            f"there is no project {place.text!r} in this vault; list them with `recollectum projects list`, or add one "
            "with `recollectum projects add FOLDER`"
        )
    return found


def ensure_project(tx: Tx, place: ProjectPlace, at: datetime, name: str | None = None) -> Project:
    """Return the project of a place; add it when a folder is used first, or again after it was forgotten."""
    known = projects.everything(tx)
    found = find_project_of(known, place)
    if place.root is None or (found is not None and found.name is not None and place.ids[0] in found.ids):
        return found if found is not None else get_project(tx, place)
    taken = {one.name for one in known if one.name}
    if name is not None and check_project_name(name) in taken:
        raise InvalidInput(f"the name {name!r} belongs to another project; choose another")
    if found is not None and place.ids[0] in found.ids:
        projects.rename(tx, found.id, name or name_for(place.root.name, taken))
        return get_project(tx, ProjectPlace(found.id))
    if place.missing:
        raise InvalidInput(f"{place.text!r} is no folder; name the folder of the project")
    projects.add(tx, place.ids[0], name or name_for(place.root.name, taken), str(place.root), at)
    return get_project(tx, ProjectPlace(place.ids[0]))


def project_of_spans(tx: Tx, spans: Sequence[Span]) -> str | None:
    """Return the project of the conversation that the first of some words were said in; None outside every project."""
    message = messages.find(tx, spans[0].message_id) if spans else None
    session = sessions.find(tx, message.session_id) if message else None
    return next(iter(ids_of_session(tx, session)), None) if session else None


def ids_of_session(tx: Tx, session: Session) -> tuple[str, ...]:
    """Return the root ids of the project that a conversation belongs to, its own first; empty outside every project.

    A conversation that was imported from another agent may name a project that the vault does not know; it counts as
    outside.
    """
    if session.project is None:
        return ()
    found = find_project_of(projects.everything(tx), ProjectPlace(session.project))
    return found.ids if found else ()


def load_scope(tx: Tx, place: ProjectPlace | None) -> ProjectScope | None:
    """Return the scope of a project, or of a place outside every one; None when the vault has no projects.

    So nothing changes for a vault without projects.
    """
    found = get_project(tx, place) if place else None
    return scope_of(tx, found.ids if found else ())


def scope_of(tx: Tx, mine: Sequence[str]) -> ProjectScope | None:
    """Return the scope of the project with these root ids; None when the vault has no projects."""
    known = projects.everything(tx)
    if not known:
        return None
    ids = frozenset(mine)
    others = frozenset(root for one in known for root in one.ids) - ids
    here: set[str] = set()
    elsewhere: set[str] = set()
    for session, project in projects.sessions_by_project(tx):
        if project in ids:
            here.add(session)
        elif project in others:
            elsewhere.add(session)
    return ProjectScope(tuple(mine), frozenset(here), frozenset(elsewhere))
