"""Estimates the tokens of prompts before they are sent, and their price if prices are known."""

import json
from collections.abc import Iterable

from recollectum.domain.models.language_model import Estimate, Prompt, Turn, Usage
from recollectum.domain.records import dataclass
from recollectum.text.tokens import estimate

_MILLION = 1_000_000
#: The tokens that a role and its markers add to a text.
_TURN_TOKENS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """The price of a million input and output tokens; None if it is not known."""

    input: float | None = None
    output: float | None = None
    currency: str = ""

    def micros(self, usage: Usage) -> int | None:
        """Return the price of some tokens in millionths; None if a price is not known."""
        if self.input is None or self.output is None:
            return None
        # A price for a million tokens is as many millionths for one.
        return round(usage.input * self.input + usage.output * self.output)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCost:
    """The cost of one call, or its upper bound."""

    tokens: int
    #: In millionths of the currency; None if the price is not known.
    micros: int | None


def price_tokens(usage: Usage, prices: Prices) -> CallCost:
    """Return the cost of a number of tokens."""
    return CallCost(tokens=usage.input + usage.output, micros=prices.micros(usage))


def input_tokens(prompt: Prompt) -> int:
    """Return about how many tokens the model will read, rather too many than too few."""
    texts = [prompt.system, *(_text(turn) for turn in prompt.turns)]
    texts += [tool.name + tool.description + _json(tool.schema) for tool in prompt.tools]
    if prompt.schema is not None:
        texts.append(_json(prompt.schema))
    return sum(estimate(text) + _TURN_TOKENS for text in texts)


def largest_cost(prompt: Prompt, max_output_tokens: int) -> Usage:
    """Return the most that one call can cost."""
    output = prompt.max_output_tokens or max_output_tokens
    return Usage(input=input_tokens(prompt), output=output, estimated=True)


def estimated_usage(prompt: Prompt, reply_text: str) -> Usage:
    """Return the estimated usage of a call, for a server that does not report it."""
    return Usage(input=input_tokens(prompt), output=estimate(reply_text), estimated=True)


def estimate_cost(prompts: Iterable[Prompt], prices: Prices, *, max_output_tokens: int) -> Estimate:
    """Return the most that these prompts will cost, if each is answered at the first attempt."""
    calls = read = written = 0
    for prompt in prompts:
        usage = largest_cost(prompt, max_output_tokens)
        calls, read, written = calls + 1, read + usage.input, written + usage.output
    micros = prices.micros(Usage(input=read, output=written))
    money = None if micros is None else micros / _MILLION
    return Estimate(calls=calls, input_tokens=read, output_tokens=written, money=money, currency=prices.currency)


def _text(turn: Turn) -> str:
    return turn.text + "".join(f"{call.id}{call.name}{_json(call.args)}" for call in turn.tool_calls) + turn.answers


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
