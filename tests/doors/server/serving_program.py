"""Runs a daemon without HTTP whose clock and language model a test chooses, and prints each question to the model.

python serving_program.py HOME URL AHEAD_SECONDS ANSWERS SETTINGS

After so many answers the model hangs. SETTINGS is a JSON object.
"""

import json
import os
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from recollectum import Recollectum
from recollectum.domain.message import Json
from recollectum.domain.models.language_model import Prompt
from recollectum.doors.server.daemon import serve
from recollectum.testing import ScriptedModel
from tests.vault.scripted_homes import finds, found

FACT = "I drink green tea every morning"
_PAUSE = 0.05


def main(folder: str, url: str, ahead: str, answers: str, settings: str) -> int:
    """Serve until a signal comes; return 0 if all rounds ended in time."""
    left = [int(answers)]

    def answer(prompt: Prompt) -> dict[str, Json]:
        _tell("asked")
        left[0] -= 1
        time.sleep(_PAUSE if left[0] >= 0 else 3600)
        said = prompt.turns[-1].text.partition("<conversation")[2]
        return finds(found(FACT, FACT)) if FACT in said else finds()

    with Recollectum(
        folder,
        settings={"storage.url": url, **json.loads(settings)},
        language_model=ScriptedModel(answer),
        clock=lambda: datetime.now(UTC) + timedelta(seconds=float(ahead)),
    ) as home:
        return 0 if serve(home, None, lambda _: _tell("started")) else 1


def _tell(line: str) -> None:
    os.write(sys.stdout.fileno(), f"{line}\n".encode())


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:6]))
