"""Recollectum with further schema steps, as later releases have them: `newer_program.py COUNT ARGUMENT…`."""

import sys

from recollectum.storage.engine import CATALOG, VAULT
from recollectum.storage.postgres import migrate
from recollectum.storage.postgres.migrate import SchemaStep, shipped

KNOWN = {family: max(step.number for step in shipped() if step.family == family) for family in (CATALOG, VAULT)}
#: Two steps that today's program may go on beside, and one that removes what it uses.
FURTHER = (
    SchemaStep(
        VAULT,
        9001,
        "moods",
        f"""-- A column with a default, and a table whose rows go with their memory.
-- oldest: {KNOWN[VAULT]:04}
ALTER TABLE memories ADD COLUMN mood bigint NOT NULL DEFAULT 0;
CREATE TABLE moods (
    vault     bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    memory_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (vault, memory_id),
    FOREIGN KEY (vault, memory_id) REFERENCES memories (vault, id) ON DELETE CASCADE
);
ALTER TABLE moods ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own_vault ON moods USING (vault = current_setting('recollectum.vault')::bigint)
    WITH CHECK (vault = current_setting('recollectum.vault')::bigint);
GRANT SELECT, INSERT, UPDATE, DELETE ON moods TO recollectum_application;
CREATE INDEX memories_mood ON memories (vault, mood);
""",
    ),
    SchemaStep(
        CATALOG,
        9001,
        "titles",
        f"-- oldest: {KNOWN[CATALOG]:04}\nALTER TABLE people ADD COLUMN title sealed;",
    ),
    SchemaStep(VAULT, 9002, "weights", "ALTER TABLE memories RENAME COLUMN importance TO weight;"),
)


def main() -> None:
    """Run the command line of the release that knows so many further steps."""
    count, sys.argv[1:] = int(sys.argv[1]), sys.argv[2:]
    steps = [*shipped(), *FURTHER[:count]]
    migrate.shipped = lambda: tuple(sorted(steps, key=lambda step: (step.family != CATALOG, step.number)))

    from recollectum.doors.cli.main import main as run

    sys.exit(run())


if __name__ == "__main__":
    main()
