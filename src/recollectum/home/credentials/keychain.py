"""Stores credentials in the operating system's keyring."""

from collections.abc import Generator
from contextlib import contextmanager

from recollectum.domain.access.credential import CredentialName
from recollectum.domain.errors import KeyProblem

# One place decides which keyrings may be trusted.
from recollectum.home.keys.keyring_holder import Keyring, acceptable, keyring_errors, name_of, usable

FORCE_VARIABLE = "RECOLLECTUM_FORCE_FILE_CREDENTIALS"


def find_backend() -> str | None:
    """Return the name of a keyring that passes a write, read and delete test; None without one."""
    found = usable()
    return None if found is None else name_of(found)


def put(backend: str, register_id: str, name: CredentialName, text: str) -> None:
    """Store the secret and read it back."""
    with _said(backend, name) as keyring:
        keyring.set_password(_service(register_id), name.text_key(), text)
        kept = keyring.get_password(_service(register_id), name.text_key()) == text
    if not kept:
        raise KeyProblem(f"the keyring {backend} did not keep the {name}; set {FORCE_VARIABLE}=1 to use a sealed file")


def get(backend: str, register_id: str, name: CredentialName) -> str | None:
    """Return the secret from the keyring that stores it, or None when it has no such entry."""
    with _said(backend, name) as keyring:
        return keyring.get_password(_service(register_id), name.text_key())


def drop(backend: str, register_id: str, name: CredentialName) -> bool:
    """Remove the entry; False when there was none."""
    with _said(backend, name) as keyring:
        found = keyring.get_password(_service(register_id), name.text_key()) is not None
        if found:
            keyring.delete_password(_service(register_id), name.text_key())
    return found


@contextmanager
def _said(backend: str, name: CredentialName) -> Generator[Keyring]:
    """Yield the keyring of that name; translate its errors into our own, without quoting them."""
    found = next((one for one in acceptable() if name_of(one) == backend), None)
    if found is None:
        raise KeyProblem(
            f"the {name} is held by the keyring {backend}, which is not available; "
            "unlock or reinstall it, or set it again"
        )
    try:
        with keyring_errors(found):
            yield found
    except KeyProblem as error:
        said = str(error).partition(";")[0]
        raise KeyProblem(f"{said}; unlock it, or set {FORCE_VARIABLE}=1 to use a sealed file") from None


def _service(register_id: str) -> str:
    # Two homes of one account must not overwrite each other's entries.
    return f"recollectum credentials {register_id}"
