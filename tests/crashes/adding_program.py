"""Adds messages together to alice's vault, says so, and waits to be killed before any search has indexed them."""

import sys
from pathlib import Path

from recollectum.vault.intake.new_message import NewMessage
from tests.matrix.homes import Turning, open_home

if __name__ == "__main__":
    place, encryption, *words = sys.argv[1:]
    with open_home(Path(place), Turning(), encryption=encryption) as home:
        said = [NewMessage(role="user", content=f"{word} is what I said") for word in words]
        home.vault("user:alice").sessions.open().add_many(said)
        print("added", flush=True)
        sys.stdin.readline()
