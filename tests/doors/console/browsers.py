"""Chromium for the tests of the console: found on the machine, headless, quiet, and watched."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, sync_playwright

from tests.tools.browser import NAMES, find_browser

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@dataclass(frozen=True, slots=True)
class Watched:
    """A page of the browser, and what went wrong on it."""

    page: Page
    origin: str
    errors: list[str] = field(default_factory=list[str])
    strangers: list[str] = field(default_factory=list[str])

    def check(self) -> None:
        """Nothing was complained about, and nobody else was asked for anything."""
        assert not self.errors, self.errors
        assert not self.strangers, self.strangers

    def note(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(f"{message.type}: {message.text}")

    def see(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if f"{parts.scheme}://{parts.netloc}" != self.origin:
            self.strangers.append(request.url)


def chromium() -> str:
    """The browser's path; without one the test is skipped aloud."""
    found = find_browser()
    if found is None:
        pytest.skip(f"there is no Chromium on this machine: none of {', '.join(NAMES)} is on the path")
    return found


@contextmanager
def browser() -> Generator[Browser]:
    """A running browser."""
    path = chromium()
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        try:
            yield running
        finally:
            running.close()


def watched(context: BrowserContext, origin: str) -> Watched:
    """A new page of which every complaint and every request is noted."""
    page = context.new_page()
    seen = Watched(page, origin)
    # By functions: a method would have the library write on the frozen object behind it.
    page.on("console", lambda message: seen.note(message))
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    context.on("request", lambda request: seen.see(request))
    return seen
