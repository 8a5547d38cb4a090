"""The agent: one whole turn, from what the person says to a reply that is shown and recorded."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from recollectum.domain.context import Context
from recollectum.domain.errors import ModelError
from recollectum.domain.language_model import Piece, Prompt, Reply, Tool, Turn
from recollectum.domain.message import Json, Message, TokenCount, ToolCall
from recollectum.domain.proposal import RULES
from recollectum.domain.session import SessionKey
from recollectum.doors.cli.chatting.finding import found_lines
from recollectum.doors.cli.chatting.interrupting import Interrupts
from recollectum.doors.cli.chatting.prompting import calling, system_text, to_turns
from recollectum.doors.cli.chatting.tools import TOOLS, Toolbox, numbered

if TYPE_CHECKING:
    from recollectum.models.language import LanguageModel
    from recollectum.vault.chat import Chat
    from recollectum.vault.vault import Vault

#: How often a model may use tools before it must answer.
ROUNDS = 4
#: What the extra of a message says when the reply was not said to its end.
INTERRUPTED = "interrupted"
_HITS = 5
_NOTHING = "Nothing is known about that yet."


class Show(Protocol):
    """Where a reply goes, piece by piece."""

    def piece(self, text: str) -> None:
        """A part of the reply."""
        ...

    def end(self) -> None:
        """No more comes of it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One turn that was recorded."""

    session_id: str
    reply: str
    #: `rules`, or the model.
    by: str
    context: Context
    #: None when nothing was said before it was interrupted.
    message_id: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    interrupted: bool = False


@dataclass(slots=True)
class _Saying:
    """What has been said so far of one reply."""

    text: str = ""
    reply: Reply | None = None
    interrupted: bool = False
    failure: ModelError | None = None


@dataclass(frozen=True, slots=True)
class _Now:
    """One turn that is going on."""

    chat: "Chat"
    heard: Message
    context: Context
    calls: list[ToolCall] = field(default_factory=list[ToolCall])


class Agent:
    """Holds a conversation under one key; the session is looked up each turn, so that it may end in between."""

    def __init__(
        self,
        vault: "Vault",
        model: "LanguageModel | None",
        show: Show,
        *,
        key: SessionKey,
        tokens: int | None = None,
        counted_as: str | None = None,
        told: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.vault = vault
        self.key = key
        self.tokens = tokens
        #: The name of the model whose tokens are counted.
        self.counted_as = counted_as
        #: The last question and what the model was shown for it.
        self.last: tuple[str, Context] | None = None
        self._model = model
        self._show = show
        self._told = told
        self._interrupts = Interrupts()

    def chat(self) -> "Chat":
        """The open session, or a new one where the last has ended."""
        return self.vault.sessions.open_key(self.key)

    def turn(self, text: str) -> Answered:
        """Record what was said, show the reply as it comes, and record that; a ModelError leaves what was recorded."""
        with self._interrupts.taken():
            chat = self.chat()
            heard = chat.add("user", text)
            with self._interrupts.allowed():
                context = self.context(text, chat.id)
            self.last = (text, context)
            now = _Now(chat, heard, context)
            answered = self._by_rules(now) if self._model is None else self._by_model(now, self._model)
            self._summarise(chat.id)
            return answered

    def context(self, query: str, session_id: str) -> Context:
        """What the model is shown for a question."""
        return self.vault.context(query, session_id=session_id, tokens=self.tokens, model=self.counted_as)

    def _by_rules(self, now: _Now) -> Answered:
        lines = found_lines(self.vault, now.heard.text, _HITS, besides=now.chat.id)
        text = "\n".join(lines) or _NOTHING
        made = now.chat.add("assistant", text, model=RULES)
        self._show.piece(text)
        self._show.end()
        return Answered(session_id=now.chat.id, reply=text, by=RULES, context=now.context, message_id=made.id)

    def _by_model(self, now: _Now, model: "LanguageModel") -> Answered:
        tools = Toolbox(self.vault, now.heard, now.context.served)
        turns: list[Turn] = list(to_turns(now.context.messages, now.heard))
        for _ in range(ROUNDS):
            said, calls, message = self._round(now, model, turns, TOOLS)
            if message is None or not calls:
                return _answered(now, model, said, message)
            turns += calling(said.text, self._use(now, tools, message, calls))
        # Now it must answer with what it has.
        said, _, message = self._round(now, model, turns, ())
        return _answered(now, model, said, message)

    def _round(
        self, now: _Now, model: "LanguageModel", turns: Sequence[Turn], tools: tuple[Tool, ...]
    ) -> tuple[_Saying, tuple[ToolCall, ...], Message | None]:
        """One reply, shown and recorded, and the tools it asks for."""
        prompt = Prompt(
            system=system_text(now.context),
            turns=tuple(turns),
            tools=tools,
            idempotency_id=f"{now.heard.id}/{len(turns)}",
        )
        said = self._say(model, prompt)
        calls = numbered(said.reply.tool_calls) if said.reply and tools else ()
        message = self._record(now, said, calls)
        # Only now: a line that has ended is one that is kept, whatever happens next.
        self._show.end()
        if said.failure:
            raise said.failure
        return said, calls, message

    def _say(self, model: "LanguageModel", prompt: Prompt) -> _Saying:
        """Show a reply as it comes in, to its end or as far as it gets."""
        said = _Saying()
        try:
            # Closed here and now: a model that nobody listens to must not go on.
            with self._interrupts.allowed(), closing(_pieces(model, prompt)) as pieces:
                for piece in pieces:
                    said.text += piece.text
                    said.reply = piece.reply or said.reply
                    if piece.text:
                        self._show.piece(piece.text)
        except KeyboardInterrupt:
            said.interrupted = True
        except ModelError as error:
            said.failure = error
        return said

    def _record(self, now: _Now, said: _Saying, calls: Sequence[ToolCall]) -> Message | None:
        """Keep what was said, also what was broken off; nothing is kept of nothing."""
        if not said.text and not calls:
            return None
        broken = said.interrupted or said.failure is not None
        extra: dict[str, Json] = {INTERRUPTED: True} if broken else {}
        reply = said.reply
        usage = reply and TokenCount(
            input=reply.usage.input, output=reply.usage.output, total=reply.usage.input + reply.usage.output
        )
        return now.chat.add(
            "assistant",
            said.text,
            tool_calls=calls,
            tokens=usage,
            model=str(self._model.identity) if self._model else None,
            extra=extra,
        )

    def _use(self, now: _Now, tools: Toolbox, message: Message, calls: Sequence[ToolCall]) -> list[ToolCall]:
        """Use each tool and record its result before the next; a crash leaves the rest of them pending."""
        done: list[ToolCall] = []
        for call in calls:
            used = replace(tools.use(call, message), at=message.created_at)
            now.chat.record_call(message.id, used)
            done.append(used)
        now.calls.extend(done)
        return done

    def _summarise(self, session_id: str) -> None:
        """Fold in what is due; a summary can be made later, and costs no reply."""
        try:
            with self._interrupts.allowed():
                self.vault.summaries.update(session_id, model=self._model)
        except ModelError as error:
            self._told(f"the conversation was not summarised: {error}")
        except KeyboardInterrupt:
            self._told("the conversation will be summarised later")


def _pieces(model: "LanguageModel", prompt: Prompt) -> Generator[Piece]:
    yield from model.stream(prompt)


def _answered(now: _Now, model: "LanguageModel", said: _Saying, message: Message | None) -> Answered:
    return Answered(
        session_id=now.chat.id,
        reply=said.text,
        by=str(model.identity),
        context=now.context,
        message_id=message.id if message else None,
        tool_calls=tuple(now.calls),
        interrupted=said.interrupted,
    )
