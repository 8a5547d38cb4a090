"""`recollectum console`: prints a one-time link to the web console."""

import json
from typing import Annotated, cast

import typer

from recollectum.domain.errors import HomeError, InvalidInput, NotFound, RecollectumError
from recollectum.doors.cli.terminal.flags import Run, command, format_owner, parse_owner
from recollectum.doors.cli.terminal.output import answer, note
from recollectum.doors.cli.terminal.sanitise import visible
from recollectum.doors.cli.terminal.target import USER_VARIABLE, account_name, home_of, settings_of
from recollectum.home.daemon import Daemon, find_daemon

_PATIENCE_SECONDS = 10
_ASKED_TOO_MUCH = 1_000_000


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "console")(console)


def console(
    run: Run,
    *,
    open_it: Annotated[bool, typer.Option("--open", help="Open it in this machine's browser.")] = False,
) -> None:
    """Print a link that signs you in to the console; it works once, within five minutes."""
    home = home_of(run)
    daemon = find_daemon(home)
    if daemon is None:
        raise NotFound(f"no daemon answers for {home.root}; start it with: recollectum serve")
    name = format_owner(parse_owner(_user(run)))
    path, seconds = _ask(daemon, name)
    link = daemon.url + path
    answer(run, {"url": link, "user": name, "expires_in": seconds}, [visible(link)])
    note(f"it signs {name} in once, within {seconds // 60} minutes")
    if open_it:
        # Imported here: it searches for every browser.
        import webbrowser  # noqa: PLC0415

        webbrowser.open(link)


def _user(run: Run) -> str:
    """Return the user: the flag's, the variable's, the setting's, or this account's."""
    return run.user or run.environ.get(USER_VARIABLE) or settings_of(run).settings.default_user or account_name()


def _ask(daemon: Daemon, name: str) -> tuple[str, int]:
    """Return the path of a new link, and for how many seconds it is valid."""
    # Imported here: few commands talk to a server. No proxy is used, because the server is on this machine.
    from urllib.error import HTTPError, URLError  # noqa: PLC0415
    from urllib.request import ProxyHandler, Request, build_opener  # noqa: PLC0415

    headers = {"authorization": f"Bearer {daemon.token}", "content-type": "application/json"}
    body = json.dumps({"user": name}).encode()
    request = Request(f"{daemon.url}/login/links", body, headers, method="POST")
    try:
        with build_opener(ProxyHandler({})).open(request, timeout=_PATIENCE_SECONDS) as found:
            return _read(found.read(_ASKED_TOO_MUCH))
    except HTTPError as error:
        with error:
            raise _refusal(error.code, error.read(_ASKED_TOO_MUCH)) from None
    except URLError as error:
        raise HomeError(f"the daemon at {daemon.url} does not answer: {error.reason}") from None


def _read(body: bytes) -> tuple[str, int]:
    try:
        made = cast("dict[str, object]", json.loads(body))
        path, seconds = made["path"], made["expires_in"]
    except (ValueError, KeyError, TypeError):
        path, seconds = None, None
    if not isinstance(path, str) or not isinstance(seconds, int):
        raise HomeError("the daemon there is not this version of Recollectum; restart it")
    return path, seconds


def _refusal(status: int, body: bytes) -> RecollectumError:
    """Return the daemon's answer as an error of ours."""
    try:
        told = cast("dict[str, object]", json.loads(body)).get("detail")
    except (ValueError, AttributeError):
        told = None
    sentence = told if isinstance(told, str) else f"the daemon refused, with status {status}"
    return NotFound(sentence) if status == 404 else InvalidInput(sentence)
