"""Checks the extensions of a home: whether their files are those that were agreed to, and can be used."""

from collections.abc import Iterator

from recollectum.domain.errors import InvalidInput, RecollectumError
from recollectum.home.extensions.contents import changed_files, read_contents
from recollectum.home.extensions.register import FOLDER, Agreed, read_register
from recollectum.home.paths import Home
from recollectum.upkeep.doctor.home_checks import HealthFinding, Severity, fine

_TOPIC = "extensions"


def extensions(home: Home) -> Iterator[HealthFinding]:
    """Check every extension that was agreed to; a home without one has no finding."""
    try:
        agreed = read_register(home)
    except RecollectumError as error:
        yield HealthFinding(topic=_TOPIC, severity=Severity.PROBLEM, words=str(error))
        return
    found = [finding for one in agreed.values() for finding in _of_one(home, one)]
    if agreed and not found:
        count = "1 extension is" if len(agreed) == 1 else f"{len(agreed)} extensions are"
        yield fine(_TOPIC, f"{count} as agreed to")
    yield from found


def _of_one(home: Home, one: Agreed) -> Iterator[HealthFinding]:
    folder = home.folder(FOLDER) / one.folder
    changed = changed_files(folder, one.files)
    if changed:
        first, *others = changed
        more = f" and {len(others)} more" if others else ""
        yield HealthFinding(
            topic=_TOPIC,
            severity=Severity.WARNING,
            words=f"{first}{more} of {one.name} is not what was agreed to, so the extension has no effect",
            cure=f"look at {folder}, then run: recollectum extensions trust {one.name}, or update or uninstall it",
        )
        return
    try:
        read_contents(folder)
    except InvalidInput as error:
        cure = f"update it, or uninstall it with: recollectum extensions uninstall {one.name}"
        words = f"{one.name} cannot be used: {str(error).splitlines()[0]}"
        yield HealthFinding(topic=_TOPIC, severity=Severity.WARNING, words=words, cure=cure)
