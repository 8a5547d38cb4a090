"""Gives the Claude Agent SDK hooks that recall before each prompt and record what was said.

The SDK calls a hook with the path of the transcript that its program writes. What is new in it is recorded under the
key that an import and the hook of Claude Code use, so that nothing is recorded twice.
"""

import asyncio
from collections import OrderedDict
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from claude_agent_sdk.types import HookMatcher

from recollectum.adapters.claude_agent.conversations import Conversations
from recollectum.domain.message import Role
from recollectum.domain.records import dataclass
from recollectum.vault.context.injection import (
    PROMPT_TOKENS,
    START_TOKENS,
    Injection,
    inject_at_prompt,
    inject_at_start,
)
from recollectum.vault.files.transcript_files import open_regular_file
from recollectum.vault.intake.new_message import NewMessage

if TYPE_CHECKING:
    from claude_agent_sdk.types import HookContext, HookEvent, HookInput, HookJSONOutput, UserPromptSubmitHookInput

    from recollectum.domain.message import Message
    from recollectum.vault.vault import Vault

#: How many conversations are cached.
_MOST_CONVERSATIONS = 200
#: How much of a transcript is read at once.
_PIECE = 16 * 2**20
#: The program calls a hook a moment before the last answer is in its file.
_TRIES, _PAUSE_S = 20, 0.1
_RECORDING: "tuple[HookEvent, ...]" = ("PostToolUse", "Stop", "PreCompact")


def memory_hooks(vault: "Vault", *, tokens: int = PROMPT_TOKENS) -> "dict[HookEvent, list[HookMatcher]]":
    """Return hooks for `ClaudeAgentOptions(hooks=…)`: what the vault knows about a prompt goes with it.

    That takes at most `tokens`; the first prompt gets the profile of the person besides. What is said is recorded after
    each tool and each answer, and before the program compacts.
    """
    hooks = _Hooks(vault, tokens)
    recording: dict[HookEvent, list[HookMatcher]] = {name: [HookMatcher(hooks=[hooks.record])] for name in _RECORDING}
    return {"UserPromptSubmit": [HookMatcher(hooks=[hooks.recall])], **recording}


@dataclass(slots=True)
class _Conversation:
    """What was told to one conversation, and how much of its transcript was read."""

    welcomed: bool = False
    told: set[str] = field(default_factory=set[str])
    #: How far each transcript was read, in bytes.
    read: dict[str, int] = field(default_factory=dict[str, int])
    #: The program's own ids of the messages that are recorded; None before the vault was asked.
    known: set[str] | None = None
    #: Answers that the file lacked when they were recorded.
    early: list[str] = field(default_factory=list[str])
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class _Hooks:
    """The hooks of one vault."""

    def __init__(self, vault: "Vault", tokens: int) -> None:
        self._vault = vault
        self._tokens = tokens
        self._conversations = Conversations(vault)
        self._known: OrderedDict[str, _Conversation] = OrderedDict()

    async def recall(self, event: "HookInput", _: str | None, __: "HookContext") -> "HookJSONOutput":
        """Return what the vault knows about a prompt."""
        talk = self._conversation(event["session_id"])
        prompt = cast("UserPromptSubmitHookInput", event)["prompt"]
        text = await asyncio.to_thread(self._told, event["session_id"], prompt, talk)
        if not text:
            return {}
        return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": text}}

    async def record(self, event: "HookInput", _: str | None, __: "HookContext") -> "HookJSONOutput":
        """Record what is new in the transcript; after an answer, wait until the file has it."""
        talk, answer = self._conversation(event["session_id"]), str(event.get("last_assistant_message") or "").strip()
        async with talk.lock:
            found = await asyncio.to_thread(self._read, event, talk)
            for _try in range(_TRIES if answer else 0):
                if any(_is_answer(one, answer) for one in found):
                    break
                await asyncio.sleep(_PAUSE_S)
                found += await asyncio.to_thread(self._read, event, talk)
            else:
                if answer:
                    talk.early.append(answer)
                    said = [NewMessage(role="assistant", content=answer)]
                    await asyncio.to_thread(self._conversations.add_new, event["session_id"], said)
            if event["hook_event_name"] == "PreCompact":
                # The model loses what it was told.
                talk.welcomed, talk.told = False, set()
        return {}

    def _conversation(self, name: str) -> _Conversation:
        talk = self._known.pop(name, None) or _Conversation()
        self._known[name] = talk
        while len(self._known) > _MOST_CONVERSATIONS:
            self._known.popitem(last=False)
        return talk

    def _told(self, name: str, prompt: str, talk: _Conversation) -> str:
        start = Injection() if talk.welcomed else inject_at_start(self._vault, START_TOKENS)
        talk.told.update(start.ids, start.words)
        own = [one.id for one in self._conversations.sessions(name)]
        about = inject_at_prompt(self._vault, prompt, sessions=own, told=talk.told, tokens=self._tokens)
        talk.welcomed = True
        talk.told.update(about.ids, about.words)
        return "\n\n".join(part for part in (start.text, about.text) if part)

    def _read(self, event: "HookInput", talk: _Conversation) -> "list[Message]":
        """Record the whole lines that came since the last time; return their messages."""
        path, said = event["transcript_path"], list["Message"]()
        while lines := _lines(Path(path), talk.read.get(path, 0)):
            found = self._conversations.read(lines.split(b"\n"))
            talk.known = self._conversations.recorded(event["session_id"]) if talk.known is None else talk.known
            new = [one for one in found if one.native_id not in talk.known and not _is_early(one, talk.early)]
            self._conversations.add(event["session_id"], new)
            talk.known.update(one.native_id for one in new if one.native_id)
            # After the messages are stored: what fails is read again.
            talk.read[path] = talk.read.get(path, 0) + len(lines)
            said += found
        return said


def _lines(path: Path, start: int) -> bytes:
    """Return whole lines of a file from a place on; none when there is no such file."""
    try:
        with open_regular_file(path) as file:
            file.seek(start)
            data = file.read(_PIECE)
            while data and b"\n" not in data and (more := file.read(_PIECE)):
                data += more
    except FileNotFoundError:
        return b""
    return data[: data.rfind(b"\n") + 1]


def _is_answer(message: "Message", answer: str) -> bool:
    text = message.text.strip()
    return message.role is Role.ASSISTANT and bool(text) and (text in answer or answer in text)


def _is_early(message: "Message", early: list[str]) -> bool:
    """Return whether an answer was recorded before the file had it; each one once."""
    known = next((one for one in early if _is_answer(message, one)), None)
    if known is not None:
        early.remove(known)
    return known is not None
