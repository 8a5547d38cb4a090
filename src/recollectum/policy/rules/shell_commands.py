"""Parses a POSIX shell command into the simple commands it would run, or refuses to guess.

It understands only what all POSIX shells read alike. A command that is known only at run time (`$(…)`, `eval`, a name
in a variable), and anything else that is not plain, raises `UnclearCommand`; the caller then asks the person.
"""

import re
from collections.abc import Sequence

from recollectum.domain.records import dataclass

_LONGEST = 20_000
_OPERATORS = ("&&", "||", "|&", ";;", ";", "|", "&", "\n", "(", ")")
_REDIRECT = re.compile(r"(?:&>>?|[0-9]{0,2}(?:>>|>\||>&|<&|<>|>|<))")
_HARMLESS = re.compile(r"[0-9]|-|/dev/null")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
#: Words with which a shell begins a compound command.
_CONSTRUCTS = "if then else elif fi for while until do done case esac select function time coproc { } ! [["
_KEYWORDS = frozenset(_CONSTRUCTS.split())
#: Programs that run a text as a command.
_INTERPRETERS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "fish", "su", "script", "ssh"))
_EVALUATING = frozenset(("eval", "source", ".", "alias", "trap"))
_RUNNING = "sudo doas env nohup nice ionice time timeout command exec builtin xargs setsid stdbuf watch find busybox"
#: Programs that run the command in their arguments.
WRAPPERS = frozenset(_RUNNING.split())


class UnclearCommand(ValueError):
    """Raised when it cannot be determined what the command would run."""


@dataclass(frozen=True, slots=True)
class ShellWord:
    """One word of a command without its quotes; it is certain when it contains no expansion."""

    text: str
    certain: bool = True


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One simple command, as written and as words."""

    text: str
    words: tuple[ShellWord, ...]
    #: Variables that are set for it alone; they can change which program runs.
    assigns: bool = False
    #: Whether it reads or writes a file by redirection.
    redirects: bool = False


def parse_command(command: str) -> tuple[SimpleCommand, ...]:
    """Return the simple commands of a shell command, in order."""
    if len(command) > _LONGEST or _CONTROL.search(command):
        raise UnclearCommand("it is too long, or holds control characters")
    return _Reader(command).read()


def command_from_words(words: Sequence[str]) -> SimpleCommand:
    """Return a command that is given as a list of words, which no shell reads."""
    found = tuple(ShellWord(text) for text in words)
    _check(found)
    return SimpleCommand(" ".join(words), found)


class _Reader:
    """Scans a command once, a word or an operator at a time."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._start = 0
        self._words: list[ShellWord] = []
        self._redirects = False
        self._found: list[SimpleCommand] = []

    def read(self) -> tuple[SimpleCommand, ...]:
        """Read everything to the end of the text, and return the simple commands."""
        while self._at < len(self._text):
            self._step()
        self._close(len(self._text))
        if not self._found:
            raise UnclearCommand("there is no command in it")
        return tuple(self._found)

    def _step(self) -> None:
        rest = self._text[self._at : self._at + 2]
        if rest[0] in " \t":
            self._at += 1
        elif redirect := _REDIRECT.match(self._text, self._at):
            self._redirect(redirect)
        elif operator := next((one for one in _OPERATORS if rest.startswith(one)), None):
            self._close(self._at)
            self._at += len(operator)
            self._start = self._at
        elif rest[0] == "#":
            raise UnclearCommand("shells do not agree on what a comment is")
        else:
            self._words.append(self._word())

    def _redirect(self, found: re.Match[str]) -> None:
        self._at = found.end()
        if self._text[self._at : self._at + 1] in ("<", "(", ">"):
            raise UnclearCommand("it feeds a text or another command into a command")
        while self._text[self._at : self._at + 1] in (" ", "\t"):
            self._at += 1
        target = self._word()
        if not (target.certain and _HARMLESS.fullmatch(target.text)):
            self._redirects = True

    def _word(self) -> ShellWord:
        parts: list[str] = []
        certain = True
        begin = self._at
        while self._at < len(self._text) and self._text[self._at] not in " \t\n;|&()<>":
            part, known = self._part(first=self._at == begin)
            parts.append(part)
            certain = certain and known
        if self._at == begin:
            raise UnclearCommand("something is missing in it")
        return ShellWord("".join(parts), certain)

    def _part(self, *, first: bool) -> tuple[str, bool]:
        """Return the next piece of a word without its quotes, and whether it is literal."""
        char = self._text[self._at]
        if char == "'":
            return self._until("'"), True
        if char == '"':
            return self._double()
        self._at += 1
        if char == "\\":
            if self._at >= len(self._text):
                raise UnclearCommand("it ends in a backslash")
            self._at += 1
            # A backslash before a newline removes both.
            return self._text[self._at - 1].strip("\n"), True
        if char == "`" or (char == "$" and self._text[self._at : self._at + 1] == "("):
            raise UnclearCommand("it runs a command within a command")
        return char, char not in "$*?[]{}" and not (first and char in "~=%")

    def _until(self, quote: str) -> str:
        end = self._text.find(quote, self._at + 1)
        if end < 0:
            raise UnclearCommand("a quote in it is not closed")
        inner = self._text[self._at + 1 : end]
        self._at = end + 1
        return inner

    def _double(self) -> tuple[str, bool]:
        parts: list[str] = []
        certain = True
        self._at += 1
        while self._at < len(self._text) and self._text[self._at] != '"':
            char = self._text[self._at]
            after = self._text[self._at + 1 : self._at + 2]
            if char == "`" or (char == "$" and after == "("):
                raise UnclearCommand("it runs a command within a command")
            if char == "\\" and after and after in '$`"\\\n':
                char = after.strip("\n")
                self._at += 1
            elif char == "$":
                certain = False
            parts.append(char)
            self._at += 1
        if self._at >= len(self._text):
            raise UnclearCommand("a quote in it is not closed")
        self._at += 1
        return "".join(parts), certain

    def _close(self, end: int) -> None:
        """End the current simple command, if there is one."""
        words, self._words = self._words, []
        redirects, self._redirects = self._redirects, False
        if not words:
            if redirects:
                raise UnclearCommand("it empties or reads a file without a command")
            return
        count = next((at for at, word in enumerate(words) if not _ASSIGNMENT.match(word.text)), len(words))
        if count == len(words):
            raise UnclearCommand("it only sets variables")
        _check(tuple(words[count:]))
        text = self._text[self._start : end].strip()
        self._found.append(SimpleCommand(text, tuple(words[count:]), assigns=count > 0, redirects=redirects))


def _check(words: Sequence[ShellWord]) -> None:
    first = words[0]
    if not first.certain or not first.text:
        raise UnclearCommand("the name of its program is only known when it runs")
    name = first.text.rpartition("/")[2]
    if first.text in _KEYWORDS or name in _EVALUATING:
        raise UnclearCommand(f"it is a construct of the shell ({first.text})")
    # After a wrapper, the interpreter is among the words.
    ran = words if name in WRAPPERS else words[:1]
    for at, word in enumerate(ran):
        base = word.text.rpartition("/")[2]
        if base == "eval" or (base in _INTERPRETERS and _takes_text(words[at + 1 :])):
            raise UnclearCommand("it hands a text to another shell")


def _takes_text(words: Sequence[ShellWord]) -> bool:
    # Without an argument it runs what is piped into it.
    return not words or any(word.text.startswith("-") and "c" in word.text for word in words) or not words[0].certain
