"""Prepares texts for an embedder: cleans them, cuts them to its limit, and adds the prefix of its model family."""

from recollectum.domain.models.embedder import Purpose
from recollectum.domain.records import dataclass
from recollectum.text.cleaning import clean
from recollectum.text.tokens import estimate

#: Some endpoints reject an empty text, which means nothing in any case.
_BLANK = "."


def fit_text(text: str, max_tokens: int) -> str:
    """Return the start of the text that certainly fits, cleaned; a blank text becomes a full stop."""
    legible = clean(_in_question(text, max_tokens))
    if estimate(legible) > max_tokens:
        legible = legible[: _longest(legible, max_tokens)]
    return legible if legible.strip() else _BLANK


def weigh_text(text: str, max_tokens: int) -> int:
    """Return about how many tokens of the text are read."""
    return min(estimate(_in_question(text, max_tokens)), max_tokens)


def _in_question(text: str, max_tokens: int) -> str:
    # A character counts as at least a quarter of a token, so the text beyond this cannot fit.
    return text[: max_tokens * 4 + 1]


def _longest(text: str, max_tokens: int) -> int:
    """Return how many characters fit, by binary search: the estimate of a prefix never falls as it grows."""
    fits, too_long = 0, len(text)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if estimate(text[:middle]) > max_tokens:
            too_long = middle
        else:
            fits = middle
    return fits


_REPRESENT = "Represent this sentence for searching relevant passages: "
_INSTRUCT = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prefixes of passages and queries."""

    passage: str = ""
    query: str = ""

    def put(self, text: str, purpose: Purpose) -> str:
        """Return the text with its prefix."""
        return (self.query if purpose is Purpose.QUERY else self.passage) + text

    @property
    def form(self) -> str:
        """Return both prefixes as one string, for an identity."""
        return f"{self.passage}|{self.query}" if self.passage or self.query else "plain"


# By a part of the model's name, as its makers document it; the first match wins.
_KNOWN = (
    ("embeddinggemma", Prompts("title: none | text: ", "task: search result | query: ")),
    ("gemini-embedding-2", Prompts("title: none | text: ", "task: search result | query: ")),
    ("nomic-embed", Prompts("search_document: ", "search_query: ")),
    ("qwen3-embedding", Prompts("", _INSTRUCT)),
    ("arctic-embed2", Prompts("", "query: ")),
    ("arctic-embed-l-v2", Prompts("", "query: ")),
    ("arctic-embed-m-v2", Prompts("", "query: ")),
    ("arctic-embed", Prompts("", _REPRESENT)),
    ("mxbai-embed-large", Prompts("", _REPRESENT)),
    ("bge-small-en", Prompts("", _REPRESENT)),
    ("bge-base-en", Prompts("", _REPRESENT)),
    ("bge-large-en", Prompts("", _REPRESENT)),
    ("e5-mistral", Prompts("", _INSTRUCT)),
    ("e5-", Prompts("passage: ", "query: ")),
)


def prompts_for(model: str) -> Prompts:
    """Return the prompts of a known model family; none for any other."""
    name = model.lower()
    return next((prompts for part, prompts in _KNOWN if part in name), Prompts())
