"""Names the certificate of a server, and checks that it can be used before anything is listened on."""

import os
import shlex
import ssl
from pathlib import Path

from recollectum.domain.errors import InvalidInput
from recollectum.domain.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsFiles:
    """A certificate chain and its private key, both as PEM files."""

    certificate: Path
    key: Path


def check_tls(files: TlsFiles) -> None:
    """Raise unless the certificate and its key can be loaded, and the key is private."""
    for path in (files.certificate, files.key):
        if not path.is_file():
            raise InvalidInput(f"there is no file {path}; give the certificate chain and its key as PEM files")
    if os.name == "posix" and files.key.stat().st_mode & 0o077:
        raise InvalidInput(f"other accounts can read the key {files.key}; run: chmod 600 {shlex.quote(str(files.key))}")
    try:
        # An empty passphrase instead of a question at the terminal, which a daemon does not have.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(files.certificate, files.key, password="")
    except (ssl.SSLError, ValueError):
        raise InvalidInput(
            f"{files.certificate} and {files.key} are not a certificate chain and its unencrypted key, as PEM files"
        ) from None
    except OSError as error:
        raise InvalidInput(f"{files.key} cannot be read ({error.strerror}); let this account read it") from None
