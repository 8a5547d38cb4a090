"""What memory serves, in every form in which it may come back."""

from collections.abc import Callable
from html import escape

from recollectum.context.compiler import compile_context
from recollectum.domain.context import Budget, Parts, RecalledText
from recollectum.domain.session import Summary
from recollectum.domain.trust import Trust
from recollectum.doors.mcp.results import fence_texts
from recollectum.text.tokens import counter_for
from tests.context.histories import AT, history

#: As the hook and the vault draw them.
MARK, OTHER_MARK = "0123456789abcdef", "fedcba9876543210"


def recalled(sentence: str) -> RecalledText:
    return RecalledText(
        id="mem_1", text=sentence, source="memory mem_1", trust=Trust.ASSISTANT, author="claude-code", at=AT
    )


def context(sentence: str, mark: str = MARK) -> str:
    """Every part of a context, each with the sentence in it."""
    parts = Parts(
        notes=sentence,
        profile=[sentence],
        learnings=[f"{sentence} (learned)"],
        recalled=[recalled(f"{sentence} (recalled)")],
        summary=Summary(text=sentence, up_to=4, by="rules"),
        messages=history("uaua"),
        earlier=3,
    )
    return compile_context(parts, Budget(tokens=100_000), counter_for(None), mark=mark).whole


def from_tool(sentence: str) -> str:
    """The answer of a tool."""
    return fence_texts([recalled(sentence)], "nothing")


def hooked(sentence: str) -> str:
    """As Gemini CLI writes down what a hook told it."""
    return f"<hook_context>{escape(context(sentence), quote=False)}</hook_context>"


def reminded(sentence: str) -> str:
    """As Claude Code tells its model what a hook said."""
    return f"<system-reminder>\nUserPromptSubmit hook success:\n{context(sentence)}\n</system-reminder>"


def twice(sentence: str) -> str:
    """An echo that was recorded once and served again."""
    return f"<hook_context>{escape(context(hooked(sentence), OTHER_MARK), quote=False)}</hook_context>"


def wrapped_tool(sentence: str) -> str:
    """As Gemini CLI writes down what a tool answered."""
    return f"<untrusted_context>\n{from_tool(sentence)}\n</untrusted_context>"


FORMS: tuple[Callable[[str], str], ...] = (context, from_tool, hooked, reminded, twice, wrapped_tool)
