"""Reads the definitions of biomedical ontologies: plain texts on which a student follows its teacher.

They come from the wheel of `cellxgene-ontology-guide` (version 1.11.1), which holds the ontologies as JSON.
`python -m training.definitions WHEEL FILE` writes them to a file, one a line, those of akin terms beside each other.
"""

import argparse
import json
import lzma
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

#: Those that may be used freely: CC BY 4.0 (MONDO, CL), CC BY 3.0 (UBERON, PATO), Apache 2.0 (EFO).
ONTOLOGIES = ("MONDO", "UBERON", "CL", "EFO", "PATO")
#: Other names of a term that are written before its definition, at most.
_SYNONYMS = 2

Terms = Mapping[str, Mapping[str, object]]


def read_definitions(path: Path) -> list[str]:
    """Return the lines of a file that `write_definitions` wrote."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return [line.rstrip("\n") for line in lines]


def write_definitions(wheel: Path, path: Path) -> int:
    """Write the definitions of the latest version of each ontology in the wheel; return how many there are."""
    found: dict[str, None] = {}
    with zipfile.ZipFile(wheel) as archive:
        for name in ONTOLOGIES:
            latest = max(one for one in archive.namelist() if f"/{name}-ontology-" in one)
            found.update(dict.fromkeys(lines_of(json.loads(_unpacked(archive.read(latest))))))
    with lzma.open(path, "wt", encoding="utf-8") as out:
        out.writelines(f"{line}\n" for line in found)
    return len(found)


def lines_of(terms: Terms) -> Iterator[str]:
    """Yield `label, other name: definition` for each defined term in use, the children of one parent together."""
    for _, number in sorted((_parent(term), number) for number, term in terms.items()):
        term = terms[number]
        definition = term.get("description")
        if not isinstance(definition, str) or term.get("deprecated") or not term.get("label"):
            continue
        synonyms = term.get("synonyms")
        names = [term["label"], *(synonyms[:_SYNONYMS] if isinstance(synonyms, list) else [])]
        yield re.sub(r"\s+", " ", f"{', '.join(map(str, names))}: {definition}").strip()


def _parent(term: Mapping[str, object]) -> str:
    """Return the first of the nearest ancestors."""
    ancestors = term.get("ancestors")
    return min((at, name) for name, at in ancestors.items())[1] if isinstance(ancestors, dict) and ancestors else ""


def _unpacked(data: bytes) -> bytes:
    # Reading what was written needs no Zstandard.
    import zstandard  # noqa: PLC0415

    return zstandard.ZstdDecompressor().decompressobj().decompress(data)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path, help="cellxgene_ontology_guide-1.11.1-py3-none-any.whl")
    parser.add_argument("file", type=Path, help="the file to write, definitions.txt.xz")
    asked = parser.parse_args()
    if not zipfile.is_zipfile(asked.wheel):
        parser.error(f"{asked.wheel} is no wheel; training/README.md says how to download it")
    if not asked.file.absolute().parent.is_dir():
        parser.error(f"{asked.file} cannot be written; give a file in a folder that exists")
    print(write_definitions(asked.wheel, asked.file), "definitions")
