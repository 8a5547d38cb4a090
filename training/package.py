"""Puts a trained model file into its package, and writes its size and digest beside it.

`python -m training.package recollectum-embed out/recollectum-embed.onnx`
"""

import argparse
import hashlib
import re
import shutil
from pathlib import Path

_PACKAGES = Path("packages")


def put(name: str, made: Path) -> str:
    """Copy the file into the package of this name; return its SHA-256."""
    folder = _PACKAGES / name / "src" / name.replace("-", "_")
    model = folder / f"{name}.w8.onnx"
    digest = hashlib.sha256(made.read_bytes()).hexdigest()
    size = made.stat().st_size
    shutil.copyfile(made, model)
    _replace(folder / "__init__.py", r'(MODEL_SHA256: Final = )"\w+"', rf'\g<1>"{digest}"')
    pattern = rf"({re.escape(model.name)} +)[\d,]+ bytes\n( +sha256 )\w+"
    _replace(folder / "NOTICE", pattern, rf"\g<1>{size:,} bytes\n\g<2>{digest}")
    return digest


def _replace(path: Path, pattern: str, new: str) -> None:
    text, count = re.subn(pattern, new, path.read_text(encoding="utf-8"), count=1)
    if not count:
        raise SystemExit(f"{path} has no place for the digest; restore it from the repository")
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="recollectum-embed or recollectum-embed-quick")
    parser.add_argument("file", type=Path, help="the ONNX file that the training wrote")
    asked = parser.parse_args()
    print(put(asked.name, asked.file))
