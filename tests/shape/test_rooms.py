"""Rooms stay rooms: few modules in a folder, a map of each, names that differ, no file that hides one function."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from tests.shape.source import Module, modules

FOLDER_MODULES = 15
#: A module of fewer lines whose one importer is its neighbour belongs in that neighbour.
SMALL = 80
#: Names of one folder that differ only by an ending of so many letters are taken for each other.
ENDING = 3

#: Folders with one module for each route, page or command, which one neighbour lists.
LISTED = ("src/recollectum/doors/rest", "src/recollectum/doors/console")
#: Small modules with one neighbour as importer, and why they stay apart.
APART: dict[str, str] = {
    "src/recollectum/adapters/adk/plugin.py": "one file for each interface of the Agent Development Kit",
    "src/recollectum/adapters/adk/sharing.py": "one step over two vaults is one subject, the session service another",
    "src/recollectum/adapters/langgraph/awaited.py": "the awaited methods only call the others",
    "src/recollectum/adapters/langgraph/pruning.py": "what stays is decided without a database",
    "src/recollectum/adapters/langgraph/filters.py": "what a filter means is LangGraph's, how items are kept is ours",
    "src/recollectum/distil/rules/standing_requests.py": "what the assistant shall do, not what a person is",
    "src/recollectum/storage/places/routed_rewriting.py": "a change of keys is one subject, copies are another",
    "src/recollectum/storage/sqlite/dialect.py": "the words that a second engine has as functions, in one place",
    "src/recollectum/doors/cli/commands/sessions/own_bundles.py": "makes vaults again, where its neighbour adds to one",
    "src/recollectum/doors/cli/install/services.py": "a service is no agent's file, and only a removal looks for one",
    "src/recollectum/doors/cli/install/toml_tables.py": "one file for each form of a configuration, beside jsonc",
    "src/recollectum/doors/hook/told.py": "what a conversation got is a file of ids, and the responder is large",
    "src/recollectum/doors/http/cross_origin.py": "who may call from a browser is one subject, and the guard is large",
    "src/recollectum/doors/http/rate_limit.py": "the token bucket knows nothing of HTTP",
    "src/recollectum/doors/mcp/local_backend.py": "one of two back ends; the other speaks to the daemon",
    "src/recollectum/home/log_rotation.py": "logging.handlers takes 8 ms to import and is wanted by few programs",
    "src/recollectum/upkeep/bundle/pages.py": "Markdown for people, where the export writes rows for programs",
    "src/recollectum/upkeep/doctor/extension_checks.py": "one file for each subject of the doctor",
    "src/recollectum/models/http/loopback.py": "needs http.client, which only an open connection to a model does",
    "src/recollectum/text/secrets/recovery_codes.py": "one file for each way of finding secrets",
    "src/recollectum/text/secrets/wallets.py": "one file for each way of finding secrets",
    "src/recollectum/transfer/claude_code.py": "one file for each foreign format",
    "src/recollectum/transfer/codex.py": "one file for each foreign format",
    "src/recollectum/transfer/gemini_asides.py": "what no person said, where the reader of records keeps every word",
    "src/recollectum/vault/extensions/abilities.py": "what files mean for a person, where the service changes them",
    "src/recollectum/vault/memories/tool_use.py": "writes a message, where its neighbour writes memories",
}
#: Class names that exist twice, and why.
TWICE: dict[str, str] = {}


def crowded(paths: Iterable[str]) -> list[str]:
    """The folders with too many modules; the map itself does not count."""
    found = Counter(str(PurePosixPath(path).parent) for path in paths if not path.endswith("__init__.py"))
    return [
        f"{folder}: {count} modules, at most {FOLDER_MODULES}"
        for folder, count in found.items()
        if count > FOLDER_MODULES
    ]


def unmapped(found: Mapping[str, Module]) -> list[str]:
    """The modules and folders that the map of their folder does not name."""
    missing: list[str] = []
    for path, module in found.items():
        place = PurePosixPath(path)
        if place.name != "__init__.py" or place.parent.name == "recollectum":
            continue
        text = ast.get_docstring(module.tree) or ""
        named = {line.split()[0].rstrip("/") for line in text.splitlines()[1:] if line.strip()}
        children = {_child(other, place.parent) for other in found} - {None, "__init__", "__main__"}
        missing += [f"{place.parent}: {name}" for name in sorted(str(one) for one in children) if name not in named]
    return missing


def _child(path: str, folder: PurePosixPath) -> str | None:
    place = PurePosixPath(path)
    if folder not in place.parents:
        return None
    return PurePosixPath(place.relative_to(folder).parts[0]).stem


def lookalikes(paths: Iterable[str]) -> list[str]:
    """Pairs of modules in one folder of which one is the other with a short ending."""
    stems: defaultdict[str, set[str]] = defaultdict(set)
    for path in paths:
        stems[str(PurePosixPath(path).parent)].add(PurePosixPath(path).stem)
    return [
        f"{folder}: {short} and {long}"
        for folder, names in stems.items()
        for short in names
        for long in names
        if long != short and long.startswith(short) and len(long) - len(short) <= ENDING
    ]


def only_for_a_neighbour(found: Mapping[str, Module]) -> set[str]:
    """The small modules that one module of the same folder imports, and no other does."""
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for path, module in found.items():
        for target in _imported(module):
            importers[target].add(path)
    return {
        path
        for path, module in found.items()
        if len(module.text.splitlines()) < SMALL
        and len(importers[path]) == 1
        and PurePosixPath(next(iter(importers[path]))).parent == PurePosixPath(path).parent
        and not path.endswith("__init__.py")
        and not path.startswith(LISTED)
    }


def _imported(module: Module) -> set[str]:
    found: set[str] = set()
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            place = "src/" + node.module.replace(".", "/")
            found |= {f"{place}.py", *(f"{place}/{alias.name}.py" for alias in node.names)}
    return found


def repeated_classes(found: Mapping[str, Module]) -> dict[str, list[str]]:
    """Public classes of one name in more than one module."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path, module in found.items():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path)
    return {name: where for name, where in places.items() if len(where) > 1}


def _source() -> dict[str, Module]:
    return {module.path: module for module in modules("src")}


def test_no_folder_is_crowded() -> None:
    assert not (found := crowded(_source())), "make a room: " + ", ".join(found)


def test_every_room_has_a_map_of_its_modules() -> None:
    assert not (found := unmapped(_source())), "name these in the docstring of their folder: " + ", ".join(found)


def test_no_two_modules_of_a_room_can_be_taken_for_each_other() -> None:
    assert not (found := lookalikes(_source())), "rename one of each: " + ", ".join(found)


def test_no_small_file_serves_its_neighbour_alone() -> None:
    found = only_for_a_neighbour(_source())
    assert not (over := found - APART.keys()), "merge these, or give a reason in APART: " + ", ".join(sorted(over))
    assert not (stale := APART.keys() - found), f"these are not alone any more: {stale}"


def test_every_class_name_exists_once() -> None:
    found = repeated_classes(_source())
    assert not (over := {name: found[name] for name in found.keys() - TWICE.keys()}), f"rename one of each: {over}"
    assert not (stale := TWICE.keys() - found.keys()), f"these exist once now: {stale}"


def test_each_kind_of_disorder_is_seen() -> None:
    assert crowded([f"src/a/m{number}.py" for number in range(16)]) == ["src/a: 16 modules, at most 15"]
    assert not crowded([f"src/a/m{number}.py" for number in range(15)])
    room = {
        "src/a/__init__.py": Module("src/a/__init__.py", '"""A room.\n\none  first\n"""'),
        "src/a/one.py": Module("src/a/one.py", "from a.ones import f\nclass C: ..."),
        "src/a/ones.py": Module("src/a/ones.py", "class C: ..."),
    }
    assert unmapped(room) == ["src/a: ones"]
    assert lookalikes(room) == ["src/a: one and ones"]
    assert only_for_a_neighbour(room) == {"src/a/ones.py"}
    assert repeated_classes(room) == {"C": ["src/a/one.py", "src/a/ones.py"]}
