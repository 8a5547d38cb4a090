"""SearchModels: the models that a program hands to search, in place of those of the settings."""

from typing import TYPE_CHECKING

from recollectum.domain.records import dataclass

if TYPE_CHECKING:
    from recollectum.models.embedding.port import Embedder
    from recollectum.models.rerank.port import Reranker


@dataclass(frozen=True, slots=True)
class SearchModels:
    """The models that search uses; each that is missing is opened by the settings. The caller closes them."""

    embedder: "Embedder | None" = None
    #: Embedders that made vectors before: each answers from its own until those of the new one are complete.
    earlier: "tuple[Embedder, ...]" = ()
    #: Scores the first hits again, whatever `recall.rerank` says.
    reranker: "Reranker | None" = None


def search_models(given: "Embedder | SearchModels | None") -> SearchModels:
    """Return the models of search, of which a plain embedder is one."""
    return given if isinstance(given, SearchModels) else SearchModels(given)
