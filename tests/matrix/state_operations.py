"""The calls about projects, tasks and what else agents keep, for the matrix of operations."""

from collections.abc import Iterator

from tests.matrix.attempt import Attempt, Run, tried


def project_reads() -> Iterator[Attempt]:
    """Yield the reads of projects; there is none."""
    yield Attempt(name="projects.list", permission="read", run=lambda v: v.projects.list())
    calls: dict[str, Run] = {
        "projects.get": lambda v: v.projects.get("nowhere"),
        "projects.find": lambda v: v.projects.find("nowhere"),
        "projects.list_memories": lambda v: v.projects.list_memories("nowhere"),
        "projects.list_sessions": lambda v: v.projects.list_sessions("nowhere"),
        "projects.list_checkpoints": lambda v: v.projects.list_checkpoints("nowhere"),
        "projects.preview": lambda v: v.projects.preview("nowhere"),
    }
    for name, run in calls.items():
        yield Attempt(name=name, permission="read", run=lambda v, r=run: tried(lambda: r(v)))


def of_state() -> Iterator[Attempt]:
    """What agents keep besides: nothing of it is there before the writes."""
    reads: dict[str, Run] = {
        "shellhistory.list": lambda v: v.state.history.list(),
        "interfacestate.list": lambda v: v.state.interfaces.list(),
        "interfacestate.list_interfaces": lambda v: v.state.interfaces.list_interfaces(),
        "interfacestate.get": lambda v: tried(lambda: v.state.interfaces.get("nothing")),
        "interfacestate.find": lambda v: v.state.interfaces.find("nothing"),
        "accounts.list": lambda v: v.state.accounts.list(),
        "accounts.find_active": lambda v: v.state.accounts.find_active("nowhere"),
    }
    writes: dict[str, Run] = {
        "shellhistory.add": lambda v: v.state.history.add("ls"),
        "shellhistory.add_many": lambda v: v.state.history.add_many(["ls", "pwd"]),
        "shellhistory.delete": lambda v: tried(lambda: v.state.history.delete("cmd_none")),
        "shellhistory.delete_all": lambda v: v.state.history.delete_all(project="0" * 64),
        "interfacestate.save": lambda v: v.state.interfaces.save("theme", "dark"),
        "interfacestate.delete": lambda v: tried(lambda: v.state.interfaces.delete("nothing")),
        "accounts.add": lambda v: v.state.accounts.add("google", "ada@example.com"),
        "accounts.activate": lambda v: tried(lambda: v.state.accounts.activate("nowhere", "nobody")),
        "accounts.remove": lambda v: tried(lambda: v.state.accounts.remove("nowhere", "nobody")),
    }
    for permission, calls in (("read", reads), ("write", writes)):
        for name, run in calls.items():
            yield Attempt(name=name, permission=permission, run=run)


def of_tasks() -> Iterator[Attempt]:
    """Yield the calls about tasks; there is none before the writes."""
    reads: dict[str, Run] = {
        "tasks.list": lambda v: v.tasks.list(),
        "tasks.find": lambda v: v.tasks.find("none"),
        "tasks.get": lambda v: tried(lambda: v.tasks.get("none")),
        "tasks.preview_retention": lambda v: v.tasks.preview_retention(),
    }
    for name, run in reads.items():
        yield Attempt(name=name, permission="read", run=run)
    yield Attempt(name="tasks.save", permission="write", run=lambda v: v.tasks.save("none", version=None))
    yield Attempt(name="tasks.delete", permission="write", run=lambda v: tried(lambda: v.tasks.delete("nowhere")))
    yield Attempt(name="tasks.run_retention", permission="write", run=lambda v: v.tasks.run_retention())
    # Whoever may write to a vault may not therefore read and write the files of this machine.
    yield Attempt(
        name="tasks.save_workspace",
        permission="admin",
        run=lambda v: tried(lambda: v.tasks.save_workspace("none", "/dev/null")),
    )
    yield Attempt(
        name="tasks.extract", permission="admin", run=lambda v: tried(lambda: v.tasks.extract("nowhere", "/dev/null"))
    )
