"""When a server wants to be asked again, in either of the forms it may say it in."""

import pytest

from recollectum.models.http.endpoint import retry_after

_SOON = "Wed, 21 Oct 2015 07:28:09 GMT"
_NOW = "Wed, 21 Oct 2015 07:28:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 0 "}, 0.0),
        ({"retry-after": "9" * 400}, 999_999_999.0),
        ({"retry-after": _SOON, "date": _NOW}, 9.0),
        ({"retry-after": _NOW, "date": _SOON}, 0.0),
        ({"retry-after": _SOON}, None),
        ({"retry-after": "soon", "date": _NOW}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "٣"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_how_long_to_leave_a_server_alone(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds
