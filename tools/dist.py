"""Builds every wheel and source distribution, with a package index beside them: `python -m tools.dist dist`.

`make dist` runs it. Nothing is fetched: hatchling, which each project names as its build backend, is called directly.
"""

import hashlib
import html
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: The folder of the index inside the folder of the distributions.
INDEX = "simple"
_FILES = (".whl", ".tar.gz")
_PAGE = """<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>{title}</title></head>
<body>
{links}
</body></html>
"""


def projects(root: Path = ROOT) -> list[Path]:
    """Return the folders of the projects: Recollectum, and the packages with models."""
    return [root, *sorted(path.parent for path in root.glob("packages/*/pyproject.toml"))]


def build(project: Path, out: Path, targets: Sequence[str] = ("sdist", "wheel")) -> None:
    """Build the distributions of one project into a folder."""
    wanted = [word for target in targets for word in ("--target", target)]
    line = [sys.executable, "-m", "hatchling", "build", "--directory", str(out), *wanted]
    done = subprocess.run(line, cwd=project, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{project.name} could not be built:\n{done.stderr[-2000:]}")


def write_index(folder: Path) -> list[str]:
    """Write an index (PEP 503) of the distributions in a folder into `simple` below it; return the projects' names."""
    found: dict[str, list[Path]] = {}
    for file in sorted(path for path in folder.iterdir() if path.name.endswith(_FILES)):
        found.setdefault(normalised(file.name.split("-")[0]), []).append(file)
    index = folder / INDEX
    for name, files in found.items():
        (index / name).mkdir(parents=True)
        _write(index / name, f"Links for {name}", (_file_link(file) for file in files))
    _write(index, "Recollectum", (f'<a href="{name}/">{name}</a>' for name in found))
    return [*found]


def normalised(name: str) -> str:
    """Return the name of a project as an index spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _file_link(file: Path) -> str:
    with file.open("rb") as data:
        digest = hashlib.file_digest(data, "sha256").hexdigest()
    needed = html.escape(_requires_python(file.name.split("-")[0]))
    return f'<a href="../../{file.name}#sha256={digest}" data-requires-python="{needed}">{file.name}</a>'


def _requires_python(name: str) -> str:
    for project in projects():
        about = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        if normalised(about["name"]) == normalised(name):
            return about["requires-python"]
    raise SystemExit(f"{name} is no project of this repository; empty the folder and build again")


def _write(folder: Path, title: str, links: Iterable[str]) -> None:
    page = _PAGE.format(title=title, links="<br>\n".join(links))
    (folder / "index.html").write_text(page, encoding="utf-8")


def _empty(out: Path) -> None:
    """Delete what an earlier build left; refuse a folder that has anything else in it."""
    out.mkdir(parents=True, exist_ok=True)
    others = [one.name for one in out.iterdir() if one.name != INDEX and not one.name.endswith(_FILES)]
    if others:
        raise SystemExit(f"{out} has {others[0]!r} in it, which is no distribution; name an empty folder")
    shutil.rmtree(out)
    out.mkdir()


def main(out: Path) -> None:
    """Build everything into a folder, in place of what was built there before."""
    _empty(out)
    for project in projects():
        build(project, out)
    write_index(out)
    for file in sorted(path for path in out.iterdir() if path.is_file()):
        print(f"{file.stat().st_size / 1_000_000:6.1f} MB  {file}")
    print(f"\nInstall from here:\n  export PIP_FIND_LINKS={out.resolve()}\n  pip install 'recollectum[all]'")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
