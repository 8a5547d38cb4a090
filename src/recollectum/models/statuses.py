"""An HTTP status other than success, as one of our errors."""

from collections.abc import Mapping

from recollectum.domain.errors import ModelError, ModelRefused, ModelTimeout, ModelUnavailable

_TOO_LATE = frozenset({408, 504})
_TOO_BUSY = frozenset({425, 429})


def problem(
    status: int, headers: Mapping[str, str], name: str, key_variable: str, section: str = "embedding"
) -> ModelError:
    """What a status means for the caller; `name` is the endpoint. What the server wrote is never repeated."""
    if status in _TOO_LATE:
        return ModelTimeout(f"{name} did not have the answer in time ({status}); try again later")
    if status in _TOO_BUSY or status >= 500:
        wait = retry_after(headers)
        return ModelUnavailable(
            f"{name} is too busy or out of order ({status}); try again later", retry_after_seconds=wait
        )
    return ModelRefused(_refusal(status, name, key_variable, section), status=status)


def _refusal(status: int, name: str, key_variable: str, section: str) -> str:
    match status:
        case 401 | 403 if key_variable:
            return f"{name} did not accept the key ({status}); check the variable {key_variable}"
        case 401 | 403:
            return f"{name} wants a key ({status}); name its variable in {section}.key_variable"
        case 404:
            return f"{name} knows no such model or path (404); check {section}.model and {section}.base_url"
        case _ if 300 <= status < 400:
            return f"{name} points to another address ({status}), which is not followed; correct {section}.base_url"
        case _ if section == "embedding":
            return f"{name} refused the request ({status}); check embedding.model and embedding.dimensions"
        case _:
            return f"{name} refused the request ({status}); check {section}.model, or shorten what is asked"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """How many seconds the server wants to be left alone, where it says so."""
    said = headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return float(said[:9])
    return _until(said, headers.get("date", "")) if said else None


def _until(said: str, now: str) -> float | None:
    """The seconds between two dates of the server's own clock, which may not be ours."""
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - few servers write a date

    try:
        return max(0.0, (parsedate_to_datetime(said) - parsedate_to_datetime(now)).total_seconds())
    except (TypeError, ValueError):
        return None
