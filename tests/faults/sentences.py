"""What every refusal is: one sentence that names the path and the cure, and holds nothing private."""

import re
from pathlib import Path

from recollectum.domain.errors import RecollectumError

#: A word that every test here writes into what it keeps, and that no error may repeat.
CANARY = "wqzkvbtrnx"

CURE = re.compile(r"; .*\b(?:restore|free|make|correct|choose|upgrade|install|check|move|set|give|try|name|use|open)\b")


def assert_sentence(error: RecollectumError, path: Path) -> None:
    """Check that an error is fit to be shown to a person."""
    text = str(error)
    assert str(path) in text
    assert CURE.search(text), f"no cure in: {text}"
    assert "\n" not in text
    assert len(text) - len(str(path)) < 300
    assert CANARY not in text
    assert "Error" not in text, f"not a person's words: {text}"
