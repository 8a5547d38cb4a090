"""Answers the events of one open home at once, and records them in a background thread."""

import getpass
import json
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import partial
from pathlib import Path

from recollectum.domain.access.owner import Owner, OwnerKind
from recollectum.domain.errors import Denied, InvalidInput, RecollectumError
from recollectum.domain.ids import Clock, system_clock
from recollectum.domain.notice import NO_NOTICE, Notice
from recollectum.domain.records import dataclass
from recollectum.doors.hook.events import HookEvent, Moment, as_fields, output, read_event
from recollectum.doors.hook.log import log_error, log_notice
from recollectum.doors.hook.recording import record, sessions_of
from recollectum.doors.hook.told import MOST_CONVERSATIONS, ToldFile, ToldMemories
from recollectum.engine import Recollectum
from recollectum.home.project import find_root
from recollectum.vault.context.injection import (
    PROMPT_TOKENS,
    START_TOKENS,
    Injection,
    inject_at_prompt,
    inject_at_start,
)
from recollectum.vault.vault import Vault

#: What is read of an event that came with an API key: no path of the other machine.
_KEYED_FIELDS = frozenset({"hook_event_name", "session_id", "conversation_id", "prompt", "source"})
_MOST_SECONDS = 60


#: An answer this shortly before the deadline may not arrive in time.
_MARGIN = 0.03


#: Time left for sending the answer when vector search is given up.
_RESERVE = 0.08


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRequest:
    """An event with the flags of the hook's command line."""

    agent: str
    fields: Mapping[str, object]
    #: None is the default person.
    user: str | None = None
    tokens: int | None = None
    #: The deadline of the answer, in seconds since 1970; None for none.
    answer_by: float | None = None
    #: The vault of the person whose API key it came with; their own machine records what was said.
    vault: Vault | None = None

    @classmethod
    def decode(cls, data: bytes) -> "HookRequest":
        """Parse what the client sent."""
        try:
            given = as_fields(json.loads(data))
        except ValueError:
            raise InvalidInput("the event is not JSON") from None
        user, tokens, by = given.get("user"), given.get("tokens"), given.get("answer_by")
        return cls(
            agent=str(given.get("agent") or "claude-code"),
            fields=as_fields(given.get("event")),
            user=user if isinstance(user, str) else None,
            tokens=tokens if isinstance(tokens, int) else None,
            answer_by=by if isinstance(by, int | float) else None,
        )

    @classmethod
    def decode_keyed(cls, data: bytes, vault: Vault, caller: str, clock: Clock = system_clock) -> "HookRequest":
        """Parse what a client on another machine sent with an API key.

        Its files and folders are none of this machine, and its clock may differ: it says how many seconds are left.
        """
        asked = cls.decode(data)
        seconds = as_fields(json.loads(data)).get("seconds")
        fields = {name: value for name, value in asked.fields.items() if name in _KEYED_FIELDS}
        by = clock().timestamp() + seconds if isinstance(seconds, int | float) and 0 < seconds < _MOST_SECONDS else None
        return replace(asked, fields=fields, user=caller, answer_by=by, vault=vault)


@dataclass(slots=True)
class _Conversation:
    """What was injected into one conversation so far."""

    welcomed: bool = False
    #: The ids of memories and messages.
    told: set[str] = field(default_factory=set[str])
    #: Their words: a memory and the message that it comes from say the same.
    words: set[str] = field(default_factory=set[str])
    prompt: str = ""
    #: What was done to the texts recorded since the last answer, for the next one to tell.
    notice: Notice = NO_NOTICE


class HookResponder:
    """Answers and records the events of one open home."""

    def __init__(
        self,
        vault_of: Callable[[str | None], Vault],
        trouble: Callable[[str, BaseException], None],
        told: Callable[[Notice], None],
        clock: Clock = system_clock,
        *,
        reads_ended: bool = True,
        meaning: bool = True,
        root_of: Callable[[Path], Path | None] = lambda _: None,
        told_file: ToldFile | None = None,
    ) -> None:
        self._told_file = told_file
        self._vault_of = vault_of
        self._trouble = trouble
        self._told = told
        self._clock = clock
        self._reads_ended = reads_ended
        #: Whether there is a model to wait for.
        self._meaning = meaning
        #: Returns the root of the project that a folder is in, or None.
        self._root_of = root_of
        self._known: OrderedDict[tuple[str | None, str, str], _Conversation] = OrderedDict()
        self._lock = threading.Lock()
        self._work: queue.SimpleQueue[tuple[HookRequest, HookEvent, str, str] | None] = queue.SimpleQueue()
        self._recorder: threading.Thread | None = None
        self._ending = False

    def answer(self, asked: HookRequest) -> dict[str, object]:
        """Return the answer for the agent; recording goes on in the background."""
        event = read_event(asked.agent, asked.fields)
        if event is None:
            return {}
        with self._lock:
            talk = self._conversation(asked, event)
            if event.forgot:
                talk.welcomed, talk.told, talk.words = False, set(), set()
            prompt = self._unrecorded(event, talk)
            remark = self._take_remark(event, talk)
        told = ""
        try:
            told = self._context(asked, event, talk)
            return output(event, told, remark)
        except Denied as error:
            # A rule denies this agent the memory; its conversation goes on without it.
            self._trouble("answer", error)
            return {}
        finally:
            self._later(asked, event, prompt, told)

    def _unrecorded(self, event: HookEvent, talk: _Conversation) -> str:
        """Return the prompt to record with this event: at once without a transcript, else with its answer."""
        if event.moment is Moment.ASKED:
            talk.prompt = event.prompt if event.transcript else ""
            return "" if event.transcript else event.prompt
        if event.moment is not Moment.ANSWERED:
            return ""
        prompt, talk.prompt = talk.prompt, ""
        return prompt

    def _take_remark(self, event: HookEvent, talk: _Conversation) -> str:
        """Return what the person is told about earlier texts of the conversation, once."""
        if event.flat or not talk.notice:
            return ""
        told, talk.notice = talk.notice, NO_NOTICE
        return f"Recollectum: {'; '.join(told.sentences())}."

    def close(self, *, reading: bool = True) -> None:
        """Record what is left, and stop; without `reading`, ended conversations are consolidated later."""
        self._ending = not reading
        if self._recorder is not None:
            self._work.put(None)
            self._recorder.join()
            self._recorder = None

    def _conversation(self, asked: HookRequest, event: HookEvent) -> _Conversation:
        name = (asked.user, event.agent, event.conversation)
        talk = self._known.pop(name, None) or self._load(name)
        self._known[name] = talk
        while len(self._known) > MOST_CONVERSATIONS:
            self._known.popitem(last=False)
        return talk

    def _load(self, name: tuple[str | None, str, str]) -> _Conversation:
        """Return a conversation as another process left it."""
        found = self._told_file.find(name) if self._told_file else ToldMemories()
        return _Conversation(welcomed=found.welcomed, told=set(found.ids))

    def _context(self, asked: HookRequest, event: HookEvent, talk: _Conversation) -> str:
        if event.moment not in (Moment.STARTED, Moment.ASKED):
            return ""
        vault = asked.vault or self._vault_of(asked.user)
        # What the session start did not deliver in time is added to the first prompt.
        project = self._project(vault, event)
        parts = [] if talk.welcomed else [inject_at_start(vault, asked.tokens or START_TOKENS, project)]
        if event.moment is Moment.ASKED:
            known = frozenset(talk.told | talk.words).union(*((*one.ids, *one.words) for one in parts))
            parts.append(self._about(asked, event, vault, project, known))
        if asked.answer_by is None or self._clock().timestamp() < asked.answer_by - _MARGIN:
            talk.welcomed = True
            for one in parts:
                talk.told.update(one.ids)
                talk.words.update(one.words)
        return "\n\n".join(part.text for part in parts if part.text)

    def _about(
        self, asked: HookRequest, event: HookEvent, vault: Vault, project: str | None, told: frozenset[str]
    ) -> Injection:
        """Return memories about a prompt by vector search if it is in time, else by keyword search."""
        look = partial(
            inject_at_prompt,
            vault,
            event.prompt,
            sessions=[one.id for one in sessions_of(vault, event)],
            told=told,
            tokens=asked.tokens or PROMPT_TOKENS,
            project=project,
        )
        if asked.answer_by is None or not self._meaning:
            return look(meaning=self._meaning)
        by_words, by_meaning = look(meaning=False), list[Injection]()

        def try_meaning() -> None:
            try:
                by_meaning.append(look())
            except RecollectumError as error:
                self._trouble("meaning", error)

        # A model may be loading or busy with new chunks: nobody waits for that.
        trying = threading.Thread(target=try_meaning, name="recollectum-hook-meaning", daemon=True)
        trying.start()
        trying.join(max(0.0, asked.answer_by - _RESERVE - self._clock().timestamp()))
        return by_meaning[0] if by_meaning else by_words

    def _project(self, vault: Vault, event: HookEvent) -> str | None:
        """Return the project that the agent works in, if the vault knows it; recording registers it."""
        found = vault.projects.find(str(event.folder.resolve())) if event.folder else None
        return found.id if found else None

    def _later(self, asked: HookRequest, event: HookEvent, prompt: str, told: str) -> None:
        with self._lock:
            if self._recorder is None:
                self._recorder = threading.Thread(target=self._record_all, name="recollectum-hook", daemon=True)
                self._recorder.start()
        self._work.put((asked, event, prompt, told))

    def _record_all(self) -> None:
        while (one := self._work.get()) is not None:
            asked, event, prompt, told = one
            try:
                # Not before the answer, because a durable write takes time.
                self._save_told(asked, event)
                if told:
                    (asked.vault or self._vault_of(asked.user)).admin.served.save(told)
                if asked.vault is None:
                    self._record(asked, event, prompt)
            except (RecollectumError, OSError) as error:
                self._trouble(f"record {event.moment}", error)

    def _save_told(self, asked: HookRequest, event: HookEvent) -> None:
        """Save what the conversation got, for the process that answers its next event."""
        if self._told_file is None or not (event.forgot or event.moment in (Moment.STARTED, Moment.ASKED)):
            return
        with self._lock:
            talk = self._conversation(asked, event)
            told = ToldMemories(talk.welcomed, frozenset(talk.told))
        self._told_file.save((asked.user, event.agent, event.conversation), told)

    def _record(self, asked: HookRequest, event: HookEvent, prompt: str) -> None:
        if event.moment is Moment.STARTED and event.transcript is None:
            return
        vault = self._vault_of(asked.user)
        root = self._root_of(event.folder) if event.folder else None
        done = record(vault, event, prompt, time.sleep, root)
        if done.notice:
            with self._lock:
                self._conversation(asked, event).notice += done.notice
            self._told(done.notice)
        session_id = done.session_id
        if event.moment is Moment.ENDED and session_id is not None and self._reads_ended and not self._ending:
            vault.admin.consolidation.run(session_id)


#: An embedding model would take longer to load than anybody waits.
_WORDS_ALONE = {"embedding.provider": "none", "recall.rerank": "off"}


def open_hook_home(root: Path, environ: Mapping[str, str]) -> Recollectum:
    """Open the home; the caller closes it."""
    return Recollectum(root, environ=environ, settings=_WORDS_ALONE)


def make_responder(recollectum: Recollectum, clock: Clock = system_clock) -> HookResponder:
    """Return the responder of an open home."""

    def trouble(where: str, error: BaseException) -> None:
        log_error(recollectum.home, where, error, clock())

    def told(notice: Notice) -> None:
        log_notice(recollectum.home, notice, clock())

    # When conversations are never consolidated automatically, their end changes nothing.
    settings = recollectum.settings
    return HookResponder(
        partial(vault_of, recollectum),
        trouble,
        told,
        clock,
        reads_ended=settings.consolidation.idle_minutes > 0,
        meaning=settings.embedding.provider != "none",
        root_of=partial(_root_of, recollectum),
        told_file=ToldFile(recollectum.home),
    )


def _root_of(recollectum: Recollectum, folder: Path) -> Path | None:
    try:
        return find_root(folder, recollectum.home, Path.home())
    except (OSError, RuntimeError):
        # A folder that cannot be looked at belongs to no project.
        return None


def vault_of(recollectum: Recollectum, user: str | None) -> Vault:
    """Return the vault of the named person, who must exist; without a name, of the default person."""
    if user is None:
        usual = recollectum.caller.person or _owner(recollectum.settings.default_user or getpass.getuser())
        return recollectum.vault(usual)
    owner = _owner(user)
    if recollectum.caller.operator:
        recollectum.people.get(owner)
    return recollectum.vault(owner)


def _owner(name: str) -> Owner:
    return Owner.parse(name if ":" in name else f"{OwnerKind.USER}:{name}")
