"""BudgetedModel: no call is made that the day's budget does not allow."""

from collections.abc import Iterator
from dataclasses import dataclass

from recollectum.domain.errors import ModelMissing, ModelRefused, ModelUnavailable
from recollectum.domain.language_model import ModelIdentity, Piece, Prompt, Reply
from recollectum.models.costs import Cost, Prices, cost, most
from recollectum.models.language import LanguageModel
from recollectum.models.spending import Limits, Reserved, Spending

#: The call was made and counts, but nobody bills for tokens.
_UNBILLED = (ModelUnavailable, ModelRefused, ModelMissing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a day may cost, and how a call is priced."""

    limits: Limits
    prices: Prices
    #: The most tokens of a reply where the prompt does not say.
    max_output_tokens: int


class BudgetedModel:
    """Books each call before it is made, and settles it afterwards."""

    def __init__(self, inner: LanguageModel, spending: Spending, budget: Budget) -> None:
        self.inner = inner
        self._spending = spending
        self._budget = budget

    @property
    def identity(self) -> ModelIdentity:
        """The inner one's."""
        return self.inner.identity

    def complete(self, prompt: Prompt) -> Reply:
        """The reply, where the budget allows the call."""
        reserved = self._reserve(prompt)
        try:
            reply = self.inner.complete(prompt)
        except _UNBILLED:
            self._spending.settle(reserved, Cost(tokens=0, micros=0))
            raise
        # After any other failure, a timeout above all, the work may have been done, and the estimate stands.
        self._settle(reserved, reply)
        return reply

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """The reply as it comes in; one that is abandoned or breaks off stays booked at its estimate."""
        reserved = self._reserve(prompt)
        begun = False
        try:
            for piece in self.inner.stream(prompt):
                begun = True
                if piece.reply is not None:
                    self._settle(reserved, piece.reply)
                yield piece
        except _UNBILLED:
            if not begun:
                self._spending.settle(reserved, Cost(tokens=0, micros=0))
            raise

    def close(self) -> None:
        """Close the inner one."""
        self.inner.close()

    def _reserve(self, prompt: Prompt) -> Reserved:
        usage = most(prompt, self._budget.max_output_tokens)
        return self._spending.reserve(cost(usage, self._budget.prices), self._budget.limits)

    def _settle(self, reserved: Reserved, reply: Reply) -> None:
        self._spending.settle(reserved, cost(reply.usage, self._budget.prices))
