"""Every error Recollectum raises on purpose, drawn as a tree.

RecollectumError
├── InvalidInput            a value that was given cannot be used
│   ├── SettingsError       a settings file or variable cannot be used
│   └── ManifestError       an extension cannot be used; a line for each problem
├── NotFound                there is no such thing, or not for this caller
├── Denied                  the caller may see the thing but not do this to it
│   └── KeysRefused         no API key is accepted until the operator has settled an older catalog
├── Conflict                it changed since it was read, or the name is taken
├── StepRefused             the life cycle has no such step from this state
├── HomeError               the state directory cannot be used
│   └── LockHeld            another process holds the lock, and says who
├── KeyProblem              the encryption key is not available
│   ├── WrongKey            the key does not open this file
│   └── KeyStoreMissing     the wrapped keys are gone
├── ModelError              a model call failed
│   ├── ModelMissing        its package or its files are not installed
│   ├── ModelTimeout        it did not answer in time
│   ├── ModelUnavailable    it cannot be reached, or is too busy
│   ├── ModelRefused        it refuses this request, and a retry will not help
│   ├── ModelGarbled        its answer does not have the requested form
│   └── BudgetSpent         a limit on calls, tokens or money is reached for today
└── StorageError            the database refused an operation
    ├── Busy                other writers held the lock for longer than the timeout
    ├── Unreachable         the database server cannot be reached; nothing was written
    ├── Undecided           whether a change was stored is not known
    ├── Moved               the vault was moved to another place while it was open
    ├── DiskFull            the disk is full; nothing was written
    ├── ReadOnly            the file or folder may not be written
    ├── Damaged             the file differs from what was written to it
    ├── SchemaNewer         a newer Recollectum wrote it
    └── SchemaEdited        an applied migration is not the one shipped

A message says what happened, to which value, and what to do. It never contains
the content of a memory or message, and never a secret.
"""


class RecollectumError(Exception):
    """Any error Recollectum raises on purpose."""


class InvalidInput(RecollectumError):
    """A value that was given cannot be used."""


class SettingsError(InvalidInput):
    """A settings file or variable cannot be used."""


class ManifestError(InvalidInput):
    """An extension cannot be used; a line for each problem."""


class NotFound(RecollectumError):
    """There is no such thing, or not for this caller."""


class Denied(RecollectumError):
    """The caller may see the thing but not do this to it."""


class KeysRefused(Denied):
    """No API key is accepted until the operator has settled an older catalog."""


class Conflict(RecollectumError):
    """It changed since it was read, or the name is taken."""


class StepRefused(RecollectumError):
    """The life cycle has no such step from this state."""


class HomeError(RecollectumError):
    """The state directory cannot be used."""


class LockHeld(HomeError):
    """Another process holds the lock."""


class KeyProblem(RecollectumError):
    """The encryption key is not available."""


class WrongKey(KeyProblem):
    """The key does not open this file."""


class KeyStoreMissing(KeyProblem):
    """The wrapped keys are gone."""


class ModelError(RecollectumError):
    """A model call failed."""


class ModelMissing(ModelError):
    """Its package or its files are not installed."""


class ModelTimeout(ModelError):
    """It did not answer in time."""


class ModelUnavailable(ModelError):
    """It cannot be reached, or is too busy; it may have said when to retry."""

    def __init__(self, message: str, *, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class ModelRefused(ModelError):
    """It refuses this request, and a retry will not help; a server's refusal has its HTTP status."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ModelGarbled(ModelError):
    """Its answer does not have the requested form."""


class BudgetSpent(ModelError):
    """A limit on calls, tokens or money is reached for today."""


class StorageError(RecollectumError):
    """The database refused an operation."""


class Busy(StorageError):
    """Other writers held the lock for longer than the timeout."""


class Unreachable(StorageError):
    """The database server cannot be reached, or the connection to it was lost; nothing was written."""


class Undecided(StorageError):
    """Whether a change was stored is not known: look before you try again."""


class Moved(StorageError):
    """The vault was moved to another place, or deleted, while it was open; nothing was written."""


class DiskFull(StorageError):
    """The disk is full; nothing was written."""


class ReadOnly(StorageError):
    """The file or folder may not be written."""


class Damaged(StorageError):
    """The file differs from what was written to it."""


class SchemaNewer(StorageError):
    """A newer Recollectum wrote it."""


class SchemaEdited(StorageError):
    """An applied migration is not the one shipped."""
