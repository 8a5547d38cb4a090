"""Migrates settings.json to settings.toml; idempotent and safe to interrupt."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from recollectum.domain.errors import SettingsError
from recollectum.domain.records import dataclass
from recollectum.home.files import PRIVATE_FILE, explain, sync_folder, write_atomic
from recollectum.home.paths import Home
from recollectum.settings.legacy import LegacySettings, read_legacy
from recollectum.settings.load import disagreement
from recollectum.settings.read import read_toml
from recollectum.settings.render import to_toml_document

HEADING = "Brought over from settings.json."


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsMigration:
    """The result of a migration, or of its dry run."""

    #: The form of the old file; `none` when there is nothing to do.
    form: Literal["none", "V1", "V2"]
    #: Old name → new key, where they differ.
    renamed: Mapping[str, str]
    #: The settings.toml that is written; empty when the existing one already says the same.
    text: str
    #: The path at which the old file is kept.
    kept: Path
    dry_run: bool


def migrate(home: Home, *, dry_run: bool) -> SettingsMigration:
    """Write settings.toml, then rename settings.json; if there is a problem, change nothing and raise."""
    kept = home.legacy_settings_file.with_name("settings.json.migrated")
    legacy = read_legacy(home.legacy_settings_file)
    if legacy is None:
        return SettingsMigration(form="none", renamed={}, text="", kept=kept, dry_run=dry_run)
    text = _text(home, legacy)
    if not dry_run:
        # In this order: if it stops in between, both files say the same, and the next run finishes.
        if text:
            write_atomic(home.settings_file, text.encode())
        _set_aside(home.legacy_settings_file, kept)
    return SettingsMigration(form=legacy.form, renamed=legacy.renamed, text=text, kept=kept, dry_run=dry_run)


def _text(home: Home, legacy: LegacySettings) -> str:
    layer = legacy.check(None)
    if layer.problems:
        raise SettingsError("\n".join(layer.problems))
    tree = read_toml(home.settings_file)
    if tree is None:
        # A value with a reference was not resolved, and is copied as it is.
        as_written = {key: raw for key, raw in legacy.values.items() if isinstance(raw, str)}
        return to_toml_document({**layer.values, **as_written}, HEADING)
    if keys := legacy.differences(tree):
        raise SettingsError(disagreement(home, keys))
    return ""


def _set_aside(path: Path, kept: Path) -> None:
    try:
        path.chmod(PRIVATE_FILE)
        path.replace(kept)
        sync_folder(kept.parent)
    except FileNotFoundError:
        # Another process migrated the file at the same time.
        return
    except OSError as error:
        raise explain(error, path) from error
