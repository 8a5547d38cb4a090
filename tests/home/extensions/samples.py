"""Folders and archives of extensions for tests."""

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import zstandard

MANIFEST: dict[str, object] = {
    "schema": 1,
    "name": "weather",
    "version": "1.2.0",
    "description": "Tells the weather",
    "mcpServers": {
        "weather": {"command": "node", "args": ["${extensionPath}${/}server.js"], "env": {"CITY": "${CITY}"}}
    },
    "contextFileName": "CONTEXT.md",
    "excludeTools": ["run_shell_command(rm)"],
    "settings": [{"name": "Key", "envVar": "WEATHER_KEY", "sensitive": True}],
}


def files(**changes: object) -> dict[str, str]:
    """The files of a whole extension; a field of the manifest that is None is left out."""
    manifest = {name: value for name, value in {**MANIFEST, **changes}.items() if value is not None}
    return {
        "recollectum-extension.json": json.dumps(manifest),
        "server.js": "// a server",
        "CONTEXT.md": "Ask for the city.",
        "commands/forecast.toml": 'prompt = "tell"',
        "policies/strict.toml": '[[rule]]\ntool = "memory.delete"\ndecision = "deny"\nwhy = "weather"\n',
        "settings.toml": "[recall]\nlimit = 7\n",
    }


def write_folder(folder: Path, content: Mapping[str, str] | None = None) -> Path:
    """A folder with these files."""
    for name, text in (files() if content is None else content).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def tar_bytes(content: Mapping[str, str] | None = None, *more: tarfile.TarInfo) -> bytes:
    """A tar file with these files, and with entries that have no content."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, text in (files() if content is None else content).items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
        for info in more:
            archive.addfile(info)
    return made.getvalue()


def zip_bytes(content: Mapping[str, str] | None = None) -> bytes:
    """A zip file with these files."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (files() if content is None else content).items():
            archive.writestr(name, text)
    return made.getvalue()


def write_archives(folder: Path, content: Mapping[str, str] | None = None) -> list[Path]:
    """The same files in each form of an archive."""
    folder.mkdir(parents=True, exist_ok=True)
    forms = {
        "one.zip": zip_bytes(content),
        "one.tar.gz": gzip.compress(tar_bytes(content)),
        "one.tar.zst": zstandard.ZstdCompressor().compress(tar_bytes(content)),
    }
    for name, data in forms.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in forms]
