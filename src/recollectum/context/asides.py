"""Cuts what Gemini CLI writes around a person's words: its own opening, and the output of hooks."""

import re

#: The first message of each chat: the date, the folders, the instructions of tool servers.
_SESSION = re.compile(r"\s*<session_context>.*</session_context>\s*", re.DOTALL)
# The output of a hook, before or after the prompt. The program escapes tags inside it, so the first closing tag is the
# right one.
_HOOK = re.compile(r"\s*<hook_context>.*?</hook_context>\s*", re.DOTALL)


def own_words(text: str) -> str:
    """Return the words of a person's message that the person wrote; empty when there are none."""
    if _SESSION.fullmatch(text):
        return ""
    at = 0
    while begins := _HOOK.match(text, at):
        at = begins.end()
    return text[at:]
