"""What the server calls itself, and which versions of the protocol it speaks. Standard library only."""

from functools import cache

NAME = "recollectum"
TITLE = "Recollectum"
#: The newest of each kind last: with a handshake, and with everything in each request.
HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)


@cache
def version() -> str:
    """The version of this program."""
    # Reading a package's metadata takes a while, and not every process says its version.
    from importlib.metadata import version as installed  # noqa: PLC0415

    return installed("recollectum")
