"""Counts modules, sizes, folders, importers and deferred imports of the source: python -m tools.metrics."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

SOURCE = Path(__file__).parents[1] / "src"
_FOLDER_LIMIT = 15


@dataclass(frozen=True, slots=True)
class Imports:
    """What one module imports from the package, and how many of its imports are deferred."""

    modules: frozenset[str]
    deferred: int


def main() -> None:
    """Print the counts, one per line."""
    for name, value in measure(SOURCE).items():
        print(f"{name:<44} {value}")


def measure(source: Path) -> Mapping[str, int]:
    """Return the counts of a source tree, by name."""
    files = {_name(path, source): path for path in sorted(source.rglob("*.py"))}
    trees = {name: ast.parse(path.read_text("utf-8")) for name, path in files.items()}
    modules = [name for name, path in files.items() if path.name != "__init__.py"]
    sizes = [len(files[name].read_text("utf-8").splitlines()) for name in modules]
    found = {name: _imports(tree, files) for name, tree in trees.items()}
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for name, imports in found.items():
        for other in imports.modules:
            importers[other].add(name)
    folders = Counter(name.rpartition(".")[0] for name in modules)
    classes = Counter(node.name for tree in trees.values() for node in _public_classes(tree))
    return {
        "modules": len(modules),
        "median lines of a module": round(median(sizes)),
        "modules under 40 lines": sum(size < 40 for size in sizes),
        "lines of source": sum(sizes),
        "folders over 15 modules": sum(count > _FOLDER_LIMIT for count in folders.values()),
        "modules with one neighbour as importer": sum(_has_one_neighbour(name, importers[name]) for name in modules),
        "deferred imports": sum(one.deferred for one in found.values()),
        "class names that exist twice": sum(count > 1 for count in classes.values()),
    }


def _name(path: Path, source: Path) -> str:
    return ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")


def _has_one_neighbour(name: str, importers: set[str]) -> bool:
    return len(importers) == 1 and next(iter(importers)).rpartition(".")[0] == name.rpartition(".")[0]


def _public_classes(tree: ast.Module) -> Iterator[ast.ClassDef]:
    return (node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_"))


def _imports(tree: ast.Module, files: Mapping[str, Path]) -> Imports:
    at_top = {id(node) for node in tree.body}
    for node in tree.body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            at_top |= {id(inner) for inner in ast.walk(node)}
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    deferred = sum(id(node) not in at_top for node in statements)
    named = (node for node in statements if isinstance(node, ast.ImportFrom) and node.module)
    wanted = {
        whole if (whole := f"{node.module}.{alias.name}") in files else str(node.module)
        for node in named
        for alias in node.names
    }
    return Imports(frozenset(wanted & files.keys()), deferred)


if __name__ == "__main__":
    main()
