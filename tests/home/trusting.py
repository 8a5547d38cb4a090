"""Trusts the folder of a project, as a person does with `recollectum projects trust`."""

from pathlib import Path

from recollectum.domain.ids import system_clock
from recollectum.home.paths import Home
from recollectum.home.project import ProjectFolder
from recollectum.home.trusted_projects import set_trusted


def trust(home: Home, root: Path) -> None:
    """Trust a project."""
    set_trusted(home, ProjectFolder(root), system_clock())
