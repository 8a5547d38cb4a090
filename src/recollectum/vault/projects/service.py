"""Lists, adds, renames, moves and forgets the projects of a vault."""

import builtins

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import InvalidInput
from recollectum.domain.files.project import ListedProject, Project, check_project_name
from recollectum.domain.memory import Memory, State
from recollectum.domain.records import dataclass
from recollectum.domain.session import Checkpoint, Session
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.policy.lifecycle import LIVE, state_at
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import checkpoints, memories, projects, sessions
from recollectum.vault.files.projects import ProjectPlace, ensure_project, find_project_of, get_project, parse_place
from recollectum.vault.gate import Gate, operation
from recollectum.vault.intake.draft import MAX_PAGE, check_limit
from recollectum.vault.memories import changes
from recollectum.vault.service import VaultService


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgottenProject:
    """What forgetting a project did, or would do."""

    project: Project
    #: Memories that go to the trash.
    memories: int
    #: Conversations that stay, and are served in this project only.
    sessions: int


class Projects(VaultService):
    """The projects of one vault. A project is given by its name, its id, or the absolute path of a folder in it."""

    @operation(Action.MEMORY_READ, Scope.USER)
    def list(self) -> builtins.list[ListedProject]:
        """Return the projects by name, with how much belongs to each."""

        def load(tx: Tx, _: ClockReading) -> builtins.list[ListedProject]:
            of_root: dict[str, builtins.list[str]] = {}
            for session, root in projects.sessions_by_project(tx):
                of_root.setdefault(root, []).append(session)
            named = sorted((one for one in projects.everything(tx) if one.name), key=lambda one: one.name or "")
            return [_listed(tx, one, [said for root in one.ids for said in of_root.get(root, ())]) for one in named]

        return self._runtime.read(load)

    @operation(Action.MEMORY_READ, Scope.USER)
    def get(self, project: str) -> ListedProject:
        """Return a project with how much belongs to it."""
        place = parse_place(project, self.gate)

        def load(tx: Tx, _: ClockReading) -> ListedProject:
            found = get_project(tx, place)
            return _listed(tx, found, projects.sessions_of(tx, found.ids))

        return self._runtime.read(load)

    @operation(Action.MEMORY_SEARCH, Scope.USER)
    def find(self, project: str) -> Project | None:
        """Return the project of a name, an id or a folder, or None."""
        place = parse_place(project, self.gate)
        return self._runtime.read(lambda tx, _: find_project_of(projects.everything(tx), place))

    @operation(Action.MEMORY_WRITE, Scope.USER, reads=True)
    def add(self, folder: str, *, name: str | None = None) -> Project:
        """Register a folder as a project; one that is registered already stays as it is, unless the name differs."""
        place = _folder(folder, self.gate)
        if name is not None:
            check_project_name(name)

        def change(tx: Tx, reading: ClockReading) -> Project:
            found = ensure_project(tx, place, reading.now, name)
            if name is not None and found.name != name:
                raise InvalidInput(f"{folder!r} is the project {found.name!r} already; rename that one")
            return found

        return self._runtime.write(change)

    @operation(Action.MEMORY_WRITE, Scope.USER, reads=True)
    def rename(self, project: str, name: str) -> Project:
        """Give a project another name."""
        place = parse_place(project, self.gate)
        check_project_name(name)

        def change(tx: Tx, _: ClockReading) -> Project:
            found = get_project(tx, place)
            holder = find_project_of(projects.everything(tx), ProjectPlace(name))
            if holder and holder.id != found.id:
                raise InvalidInput(f"the name {name!r} belongs to another project; choose another")
            projects.rename(tx, found.id, name)
            return get_project(tx, ProjectPlace(found.id))

        return self._runtime.write(change)

    @operation(Action.MEMORY_WRITE, Scope.USER, reads=True)
    def add_root(self, project: str, folder: str) -> Project:
        """Say where a project is now. What was saved at its earlier roots, or at the new one, belongs to it."""
        place, moved = parse_place(project, self.gate), _folder(folder, self.gate)

        def change(tx: Tx, reading: ClockReading) -> Project:
            found = get_project(tx, place)
            root_id, root = moved.ids[0], moved.root
            holder = next((one for one in projects.everything(tx) if root_id in one.ids), None)
            for known in holder.roots if holder and holder.id != found.id else ():
                projects.add_root(tx, found.id, known.id, known.root, known.added_at)
            projects.add_root(tx, found.id, root_id, str(root), reading.now)
            if holder and holder.id != found.id:
                projects.delete(tx, holder.id)
            return get_project(tx, ProjectPlace(found.id))

        return self._runtime.write(change)

    @operation(Action.MEMORY_READ, Scope.USER)
    def list_memories(self, project: str, *, limit: int = 50) -> builtins.list[Memory]:
        """Return the newest active memories of a project."""
        place, most = parse_place(project, self.gate), check_limit(limit, MAX_PAGE)

        def load(tx: Tx, reading: ClockReading) -> builtins.list[Memory]:
            found = memories.find_many(tx, projects.memory_ids(tx, get_project(tx, place).ids)[::-1])
            return [one for one in found if state_at(one, reading) is State.ACTIVE][:most]

        return self._runtime.read(load)

    @operation(Action.SESSION_READ, Scope.USER)
    def list_sessions(self, project: str, *, limit: int = 50) -> builtins.list[Session]:
        """Return the newest conversations of a project."""
        place, most = parse_place(project, self.gate), check_limit(limit, MAX_PAGE)

        def load(tx: Tx, _: ClockReading) -> builtins.list[Session]:
            newest = projects.sessions_of(tx, get_project(tx, place).ids)[::-1][:most]
            return [found for one in newest if (found := sessions.find(tx, one))]

        return self._runtime.read(load)

    @operation(Action.SESSION_READ, Scope.USER)
    def list_checkpoints(self, project: str) -> builtins.list[Checkpoint]:
        """Return the checkpoints in the conversations of a project, newest first."""
        place = parse_place(project, self.gate)

        def load(tx: Tx, _: ClockReading) -> builtins.list[Checkpoint]:
            mine = frozenset(projects.sessions_of(tx, get_project(tx, place).ids))
            return [one for one in checkpoints.everything(tx, None) if one.session_id in mine]

        return self._runtime.read(load)

    @operation(Action.MEMORY_READ, Scope.USER)
    def preview(self, project: str) -> ForgottenProject:
        """Return what forgetting a project would do; nothing is changed."""
        place = parse_place(project, self.gate)
        return self._runtime.read(lambda tx, reading: _forgotten(tx, get_project(tx, place), reading))

    @operation(Action.MEMORY_DELETE, Scope.USER, reads=True)
    def forget(self, project: str) -> ForgottenProject:
        """Move the memories of a project to the trash, and take it off the list.

        Its conversations stay, and are served in this project only. The folder gets all of it back when it is used
        again, except what left the trash; a purge of the project destroys everything.
        """
        place = parse_place(project, self.gate)

        def change(tx: Tx, reading: ClockReading) -> ForgottenProject:
            found = get_project(tx, place)
            done = _forgotten(tx, found, reading)
            act = changes.Change(tx, self._runtime.actor, reading.now)
            for one in _live_ids(tx, found, reading):
                memory = memories.find(tx, one)
                if memory:
                    settled = changes.apply_due_steps(tx, memory, reading, self._runtime.retention)
                    changes.move(act, settled, State.SOFT_DELETED, self._runtime.retention)
            projects.rename(tx, found.id, None)
            return done

        return self._runtime.write(change, frees=True)


def _folder(folder: str, gate: Gate) -> ProjectPlace:
    place = parse_place(folder, gate)
    if place.root is None:
        raise InvalidInput(f"{folder!r} is no absolute path; give the folder of the project")
    if place.missing:
        raise InvalidInput(f"{folder!r} is no folder; name the folder of the project")
    return place


def _listed(tx: Tx, project: Project, said: builtins.list[str]) -> ListedProject:
    return ListedProject(project=project, counts=projects.counts(tx, project.ids, said))


def _live_ids(tx: Tx, project: Project, reading: ClockReading) -> builtins.list[str]:
    found = memories.find_many(tx, projects.memory_ids(tx, project.ids))
    return [one.id for one in found if state_at(one, reading) in LIVE]


def _forgotten(tx: Tx, project: Project, reading: ClockReading) -> ForgottenProject:
    return ForgottenProject(
        project=project,
        memories=len(_live_ids(tx, project, reading)),
        sessions=len(projects.sessions_of(tx, project.ids)),
    )
