"""The key of a provider: from the variable that the settings name, and from nowhere else."""

from collections.abc import Callable, Mapping

from recollectum.domain.errors import ModelRefused
from recollectum.models.wire import Access

#: How a key is shown to a server.
KeyHeaders = Callable[[str], Mapping[str, str]]


def access(
    variable: str, environ: Mapping[str, str], headers: KeyHeaders, *, named: bool, section: str = "embedding"
) -> Access:
    """What a request carries; nothing for an empty variable. `named` says that the person wrote the name down."""
    if not variable:
        return Access()
    key = environ.get(variable, "").strip()
    if not key and named:
        # The name is not shown: what is not a variable may be a key that was written in its place.
        raise ModelRefused(f"{section}.key_variable names a variable that is not set; set it, or correct the name")
    if not key:
        raise ModelRefused(f"the variable {variable} is not set; put the provider's key there")
    # http.client would show the value in its own error.
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ModelRefused(f"the variable {variable} holds something that cannot be a key; correct it")
    return Access(headers=headers(key), key_variable=variable)
