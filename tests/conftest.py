"""What holds for every test: own home, no network, no hidden skip, proofs tied to features."""

import sys
from pathlib import Path

# Test modules are imported by path, so the root has to be named before they can share code as `tests.…`.
sys.path.insert(0, str(Path(__file__).parents[1]))

pytest_plugins = (
    "tests.plugins.examples",
    "tests.plugins.features",
    "tests.plugins.isolation",
    "tests.plugins.postgres",
    "tests.plugins.postgres_pairs",
    "tests.plugins.engines",
    "tests.plugins.processes",
    "tests.plugins.skips",
    "tests.plugins.sockets",
)
