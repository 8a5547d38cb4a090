"""Admits text before its transaction: cuts echoes, stores or redacts secrets, checks it and decides its trust."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import check_indexed, parse_enum
from recollectum.domain.memory import Kind, check_key
from recollectum.domain.message import NUMBERS, Content, Json, Message, Part, ToolCall, text_of
from recollectum.domain.notice import Notice
from recollectum.domain.proposal import Act, Finding
from recollectum.domain.session import Session
from recollectum.domain.trust import Trust, least_trusted
from recollectum.text.cleaning import clean
from recollectum.text.tokens import estimate
from recollectum.vault.intake.admitted import (
    AdmittedCall,
    AdmittedFinding,
    AdmittedMemory,
    AdmittedMessage,
    AdmittedSession,
    AdmittedText,
)
from recollectum.vault.intake.draft import Draft, check_content, check_importance
from recollectum.vault.intake.kept_secrets import SERVICE, delete_unreferenced, to_reference
from recollectum.vault.intake.new_message import NewMessage, clean_call, to_clean_message
from recollectum.vault.intake.quick_look import NOTHING_CERTAIN, Looked
from recollectum.vault.intake.redaction import (
    find_secret_spans,
    is_plain_text,
    redact_json,
    redact_lines,
    redact_place,
    redact_text,
)
from recollectum.vault.intake.tally import Tally
from recollectum.vault.intake.trust import caller_trust, check_shared_trust
from recollectum.vault.runtime import VaultRuntime

_MAX_REASON = 500


class Intake:
    """Admits the texts of one write, and stores their secrets where the settings say so.

    Echoes of what memory served are cut out of every text, and a message that contains nothing else is not admitted.
    When the write fails, the secrets that were stored for it are deleted again. A secret that the store cannot hold is
    redacted for good.
    """

    __slots__ = ("_echoes", "_kept", "_runtime", "_trust", "tally")

    def __init__(self, runtime: VaultRuntime) -> None:
        self._runtime = runtime
        self._kept: set[str] = set()
        self._trust: Trust | None = None
        # Imported here: a program that only reads lets nothing in.
        from recollectum.vault.intake.echoes import EchoFilter  # noqa: PLC0415
        from recollectum.vault.intake.served import load_served  # noqa: PLC0415

        self._echoes = EchoFilter(lambda: load_served(runtime))
        #: Counts what callers are told afterwards.
        self.tally = Tally()

    def __enter__(self) -> "Intake":
        """Begin the write."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the write; delete its secrets when it failed."""
        if kind is not None:
            self.discard()

    @property
    def notice(self) -> Notice:
        """What was done to all texts of the write so far."""
        return self.tally.notice()

    def discard(self) -> None:
        """Delete the secrets that were stored for this write, because nothing was written."""
        if self._kept:
            delete_unreferenced(self._runtime, self._kept)

    def text(self, text: str) -> AdmittedText:
        """Admit a text of any length: a title, a summary, a reason, a command of a shell."""
        return AdmittedText(self._without_secrets(self._echoes.text(clean(text))))

    def content(self, content: str) -> AdmittedText:
        """Admit the content of a memory; raise when it is empty or too long."""
        check_content(content)
        own = self._echoes.content(clean(content))
        # Nothing in a plain text is a secret, nor in the strings of a JSON object, unless an escape spells them.
        plain = "\\" not in own and is_plain_text(own)
        made = own if plain else self._without_secrets(self._json_text(own) if own.startswith("{") else own)
        admitted = AdmittedText(made)
        # A placeholder can be longer than the secret.
        check_content(admitted)
        self.tally.measure(admitted)
        return admitted

    def memory(self, draft: Draft, looked: Looked = NOTHING_CERTAIN) -> AdmittedMemory:
        """Admit a draft with the trust in its caller; `looked` is what `look_at` says of its content."""
        draft.check()
        if looked.stays:
            content = AdmittedText(draft.content)
            self.tally.measure(content)
        else:
            content = self.content(draft.content)
        return AdmittedMemory(
            content=content,
            key=draft.key,
            kind=draft.kind if isinstance(draft.kind, Kind) else parse_enum(Kind, draft.kind, "kind"),
            importance=draft.importance,
            ttl=draft.ttl,
            valid_from=draft.valid_from,
            valid_to=draft.valid_to,
            message_id=draft.message_id,
            agent=clean(draft.agent) if draft.agent else None,
            # The transaction that writes it finds the project.
            project=None,
            trust=self._trust_in_caller(),
            tells_of_nobody=looked.stays and looked.tells_of_nobody,
        )

    def message(self, said: NewMessage) -> AdmittedMessage | None:
        """Admit a new message; None when it is only an echo. A caller with a grant does not get the owner's trust."""
        message = self._echoes.message(to_clean_message(said))
        if message is None:
            return None
        gate = self._runtime.gate
        trust = message.trust if gate.own else least_trusted(message.trust, Trust.UNKNOWN)
        admitted = self._message(message, check_shared_trust(gate.owner, trust), None)
        return AdmittedMessage(admitted, has_time=said.at is not None)

    def session(self, session: Session) -> AdmittedSession:
        """Admit the title, summary and extra fields of an imported session."""
        # Imported text has no trusted author until a person says it again.
        check_shared_trust(self._runtime.gate.owner, Trust.IMPORTED)
        begun = self.tally.mark()
        return AdmittedSession(
            replace(
                session,
                title=self.text(session.title) if session.title else session.title,
                summary=self.text(session.summary) if session.summary else session.summary,
                extra=self._part(self._echoes.part(session.extra)),
                key=self.tally.compare_place(session.key, redact_place(session.key)),
                notice=self.tally.notice(begun),
            )
        )

    def imported(self, message: Message, *, foreign: bool = False) -> AdmittedMessage | None:
        """Admit an imported message with its own id and time; None when it is only an echo.

        Text that is `foreign` is not trusted.
        """
        check_indexed(message.id, "a message id")
        own = self._echoes.message(message)
        if own is None:
            return None
        trust = Trust.UNKNOWN if foreign else own.trust
        return AdmittedMessage(self._message(own, trust, own.token_estimate if own is message else None))

    def call(self, call: ToolCall) -> AdmittedCall:
        """Admit the fields of a tool call."""
        return AdmittedCall(self._call(self._echoes.call(clean_call(call))))

    def note(self, text: str) -> AdmittedText:
        """Admit the text of a person's own file line by line. Its secrets stay in the file, so none is stored."""
        said = self._echoes.lines(clean(text))
        return AdmittedText(self.tally.compare(said, redact_lines(said)))

    def finding(self, finding: Finding) -> AdmittedFinding:
        """Admit a proposed memory, with the reason that a person will read."""
        forgets = finding.act is Act.FORGET
        if finding.key is not None:
            check_key(finding.key)
        return AdmittedFinding(
            replace(
                finding,
                content=self.text(finding.content) if forgets else self.content(finding.content),
                kind=parse_enum(Kind, finding.kind, "kind"),
                importance=check_importance(finding.importance),
                reason=self.text(finding.reason)[:_MAX_REASON],
            )
        )

    def value(self, key: str, value: Json) -> Json:
        """Admit a JSON value, which is kept under a key."""
        return self._value(self._echoes.value(value), key)

    def name(self, name: str, what: str) -> str:
        """Admit a name, which is stored exactly; raise when it contains a secret or an echo."""
        if self._echoes.text(name) != name:
            raise InvalidInput(f"this {what} repeats what memory served; choose another one")
        if find_secret_spans(name):
            raise InvalidInput(
                f"this {what} contains a secret, and a {what} is stored without redaction; choose another one"
            )
        return name

    def _trust_in_caller(self) -> Trust:
        """Return the trust in the caller, the same for all texts of the write; raise if it may not write them."""
        if self._trust is None:
            gate = self._runtime.gate
            self._trust = check_shared_trust(gate.owner, caller_trust(gate))
        return self._trust

    def _without_secrets(self, text: str, name: str = "") -> str:
        """Return the text with a placeholder for each secret; `name` is the key of the text in a JSON object."""
        kept = self._keep(text, name)
        made = cast("str", redact_json(kept, name)) if name else redact_text(kept)
        return self.tally.compare(text, made)

    def _keep(self, text: str, name: str) -> str:
        keep = self._runtime.home.keep_secret
        if keep is None:
            return text
        places: list[str] = []
        for start, end, kind in find_secret_spans(text, name):
            try:
                account = keep(self._runtime.vault.id, text[start:end])
            except InvalidInput:
                # Then it is redacted for good.
                continue
            self._kept.add(account)
            places.append(f"{SERVICE} {account}")
            text = f"{text[:start]}{to_reference(kind, account)}{text[end:]}"
        # The spans come last first.
        self.tally.keep(reversed(places))
        return text

    def _message(self, message: Message, trust: Trust, tokens: int | None) -> Message:
        """Return the message without secrets, with its notice; its tokens are estimated unless they are known."""
        begun = self.tally.mark()
        if message.native_id:
            check_indexed(message.native_id, "native_id")
        if message.speaker:
            check_indexed(message.speaker, "speaker")
        content = self._content(message.content)
        text = text_of(content)
        self.tally.measure(text)
        # One copy with all changes: a message has many fields, and every message passes here.
        return replace(
            message,
            content=content,
            trust=trust,
            token_estimate=estimate(text) if tokens is None else tokens,
            tool_calls=tuple(map(self._call, message.tool_calls)),
            thoughts=tuple(map(self._part, message.thoughts)),
            speaker=self._without_secrets(message.speaker) if message.speaker else message.speaker,
            extra=self._part(message.extra),
            # Last, when every text of the message is counted.
            notice=self.tally.notice(begun),
        )

    def _content(self, content: Content) -> Content:
        return self._without_secrets(content) if isinstance(content, str) else tuple(map(self._part, content))

    def _call(self, call: ToolCall) -> ToolCall:
        if not (call.args or call.result or call.extra):
            return call
        return replace(call, args=self._part(call.args), result=self._value(call.result), extra=self._part(call.extra))

    def _part(self, part: Part) -> Part:
        return cast("Mapping[str, Json]", self._value(part)) if part else part

    def _value(self, value: Json, name: str = "") -> Json:
        if isinstance(value, str):
            return self._without_secrets(value, name)
        if type(value) in NUMBERS:
            # Before the abstract types, which are slow to ask: packed state is a list of many numbers.
            return value
        if isinstance(value, Mapping):
            made: dict[str, Json] = {}
            for key, inner in value.items():
                named = self.tally.compare(key, redact_text(key))
                made[self._free_key(named, made)] = self._value(inner, key)
            return made
        if isinstance(value, Sequence):
            told = not NUMBERS.issuperset(map(type, value))
            return [self._value(inner, name) for inner in value] if told else [*value]
        return value

    def _free_key(self, key: str, taken: Mapping[str, Json]) -> str:
        """Return the key, with a number if another key was redacted to the same text: no value may be lost."""
        number = 1
        free = key
        while free in taken:
            number += 1
            free = f"{key} {number}"
        return free

    def _json_text(self, content: str) -> str:
        """Return a JSON object with its strings admitted, so that it stays JSON; return any other text unchanged."""
        try:
            value: object = json.loads(content)
        except (ValueError, RecursionError):
            return content
        if not isinstance(value, dict):
            return content
        before = cast("Mapping[str, Json]", value)
        admitted = self._part(before)
        return content if admitted == before else json.dumps(admitted, ensure_ascii=False)
