"""The words some models want before a passage or a query; without them they find less."""

from dataclasses import dataclass

from recollectum.domain.embedder import Purpose

_REPRESENT = "Represent this sentence for searching relevant passages: "
_INSTRUCT = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"


@dataclass(frozen=True, slots=True)
class Prompts:
    """What stands before the text."""

    passage: str = ""
    query: str = ""

    def put(self, text: str, purpose: Purpose) -> str:
        """The text as the model wants it."""
        return (self.query if purpose is Purpose.QUERY else self.passage) + text

    @property
    def form(self) -> str:
        """Both, as an identity keeps them."""
        return f"{self.passage}|{self.query}" if self.passage or self.query else "plain"


# By a part of the model's name, as its makers describe it; the first that fits counts.
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
    """The prompts of a known family of models; none for any other."""
    name = model.lower()
    return next((prompts for part, prompts in _KNOWN if part in name), Prompts())
