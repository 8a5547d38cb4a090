"""Writes to the catalog of a home all the time, such as people, keys and leases; prints what was acknowledged."""

import os
import sys
import time
from datetime import timedelta
from pathlib import Path

from recollectum import Recollectum
from recollectum.storage.tables.catalog import leases

#: One person in so many has a vault: each move moves them all.
_VAULTS = 40


def main() -> None:
    """Take the home and the name of this writer from the command line; end when stdin is closed."""
    root, name = Path(sys.argv[1]), sys.argv[2].replace(" ", "-")
    os.set_blocking(sys.stdin.fileno(), False)
    with Recollectum(root, environ=os.environ) as home:
        number = 0
        while sys.stdin.buffer.raw.read(1) is None:  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
            _write(home, f"{name}-{number}", has_vault=number % _VAULTS == 0)
            # What is open and not used would keep its file.
            for one in range(0, number + 1, _VAULTS):
                assert len(home.vault(f"user:{name}-{one}").memories.list()) == 1
            number += 1
            # Leave the processor to the move.
            time.sleep(0.1)


def _write(home: Recollectum, name: str, *, has_vault: bool) -> None:
    """Write one of each, read it again, and print it when it was acknowledged."""
    person = f"user:{name}"
    if has_vault:
        home.vault(person).memories.save(f"{name} has a vault")
        assert len(home.vault(person).memories.list()) == 1
        print(f"vault {person}", flush=True)
    else:
        home.people.add(person)
        print(f"person {person}", flush=True)
    home.people.add_identity(person, f"mail:{name}@example.com")
    assert str(home.people.resolve(f"mail:{name}@example.com")) == person
    print(f"identity {person}", flush=True)
    made = home.keys.add(person)
    assert str(home.login(made.secret).caller.person) == person
    print(f"key {made.key.id}", flush=True)
    home.keys.revoke(made.key.id)
    print(f"revoked {made.key.id}", flush=True)
    catalog, now = home.admin.catalog, home.admin.clock()
    # Beside other writers, and not counted.
    assert catalog.claim(lambda tx: leases.take(tx, name, "writer", now, now + timedelta(days=1)))
    assert not catalog.claim(lambda tx: leases.take(tx, name, "another", now, now + timedelta(days=1)))
    print(f"lease {name}", flush=True)


if __name__ == "__main__":
    main()
