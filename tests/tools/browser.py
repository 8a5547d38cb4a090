"""Finds the browser for the tests of the console."""

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser() -> str | None:
    """The path of a browser that Playwright can drive, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)
