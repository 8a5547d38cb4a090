"""Trains an encoder: a question must be nearer to its answer than to every other text of a large batch."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from training.encoder import Encoder
from training.pairs import Pair
from training.tokens import TokenTable, encode

_FAR = -1e4


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How to train."""

    steps: int
    batch: int = 1024
    #: Of each pair, at most.
    negatives: int = 4
    rate: float = 3e-5
    temperature: float = 0.02
    #: The weights of the labels, of the nearness to the teacher's vectors, and of the teacher's order of a batch.
    contrast: float = 1.0
    follow: float = 0.0
    follow_order: float = 0.0
    seed: int = 2026
    #: Passages and pieces of texts without a question in each batch, and the weight of the teacher's order among them.
    plain: int = 0
    pieces: int = 0
    #: Groups of akin plain texts in each batch, beside those by chance.
    groups: int = 0
    keep: float = 1.0
    #: Sentences with the rest of their passages in each batch. The weights of the labels, of the base's order of the
    #: passages, and of the nearness to the base's vectors.
    claims: int = 0
    claims_contrast: float = 0.3
    claims_order: float = 0.3
    claims_follow: float = 0.5
    #: Tokens that are encoded at once.
    tokens: int = 1 << 16


@dataclass(frozen=True, slots=True)
class Numbered:
    """A pair as numbers of the token table."""

    query: int
    positive: int
    negatives: tuple[int, ...]


def number_pairs(pairs: Sequence[Pair], table: TokenTable) -> list[Numbered]:
    """Return the pairs as numbers."""
    numbers = table.numbers
    return [
        Numbered(numbers[one.query], numbers[one.positive], tuple(numbers[text] for text in one.negatives))
        for one in pairs
    ]


def train(
    encoder: Encoder,
    table: TokenTable,
    pairs: Sequence[Numbered],
    plan: Plan,
    *,
    told: Callable[[int, float], None],
    teacher: Tensor | None = None,
    plain: Sequence[int] = (),
    pieces: Sequence[int] = (),
    groups: Sequence[Sequence[int]] = (),
    claims: Tensor | None = None,
) -> None:
    """Train in place; with a teacher's vectors of all texts, follow it as well, also on plain texts and pieces.

    `claims` are pairs of a sentence and the rest of its passage; for them the teacher is the base model.
    """
    chance = random.Random(plan.seed)
    torch.manual_seed(plan.seed)
    encoder.train()
    optimiser = torch.optim.AdamW(encoder.parameters(), lr=plan.rate, weight_decay=0.01)
    order = list(range(len(pairs)))
    at = len(order)
    for step in range(plan.steps):
        rate = plan.rate * min(1.0, (step + 1) / max(10, plan.steps // 20)) * max(0.02, 1 - step / plan.steps)
        for group in optimiser.param_groups:
            group["lr"] = rate
        if at + plan.batch > len(order):
            chance.shuffle(order)
            at = 0
        chosen = [pairs[place] for place in order[at : at + plan.batch]]
        at += plan.batch
        if claims is None:
            more = chance.sample(plain, plan.plain) + chance.sample(pieces, plan.pieces)
            more += [text for group in chance.sample(groups, plan.groups) for text in group]
            more = list(dict.fromkeys(more))
            loss = _loss(encoder, table, chosen, plan, chance, teacher, more)
        else:
            loss = _loss(encoder, table, chosen, plan, chance, None, ())
            places = torch.tensor(chance.sample(range(len(claims)), plan.claims), device=table.device)
            loss = loss + _claim_loss(encoder, table, claims[places], plan, teacher)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
        optimiser.step()
        if step % 50 == 0:
            told(step, float(loss.detach()))
    encoder.eval()


def _loss(
    encoder: Encoder,
    table: TokenTable,
    chosen: Sequence[Numbered],
    plan: Plan,
    chance: random.Random,
    teacher: Tensor | None,
    plain: Sequence[int],
) -> Tensor:
    queries = torch.tensor([one.query for one in chosen], device=table.device)
    positives = torch.tensor([one.positive for one in chosen], device=table.device)
    others = [
        number for one in chosen for number in chance.sample(one.negatives, min(plan.negatives, len(one.negatives)))
    ]
    others += plain
    texts = torch.cat([queries, positives, torch.tensor(others, dtype=torch.long, device=table.device)])
    # A text that occurs several times in the batch is encoded once.
    unique, back = torch.unique(texts, return_inverse=True)
    vectors = encode(encoder, table, unique, plan.tokens)[back]
    size = len(chosen)
    asked, answers = vectors[:size], vectors[size:]
    candidates = texts[size:]
    same = (candidates[None] == positives[:, None]) | (
        torch.cat([queries, torch.full((len(others),), -1, device=table.device)])[None] == queries[:, None]
    )
    same[torch.arange(size), torch.arange(size)] = False
    target = torch.arange(size, device=table.device)
    scores = (asked @ answers.T / plan.temperature).masked_fill(same, _FAR)
    backwards = functional.cross_entropy(scores[:, :size].T, target)
    loss = plan.contrast * (functional.cross_entropy(scores, target) + 0.5 * backwards)
    if teacher is None:
        return loss
    wanted = teacher[texts].float()
    if plan.follow:
        loss = loss + plan.follow * (1 - (vectors * wanted).sum(-1)).mean()
    if plan.follow_order:
        order = (wanted[:size] @ wanted[size:].T / plan.temperature).masked_fill(same, _FAR)
        loss = loss + plan.follow_order * _divergence(scores, order)
    if plain:
        own, theirs = vectors[-len(plain) :], wanted[-len(plain) :]
        itself = torch.eye(len(plain), dtype=torch.bool, device=table.device)
        loss = loss + plan.keep * _divergence(
            (own @ own.T / plan.temperature).masked_fill(itself, _FAR),
            (theirs @ theirs.T / plan.temperature).masked_fill(itself, _FAR),
        )
    return loss


def _claim_loss(encoder: Encoder, table: TokenTable, claims: Tensor, plan: Plan, base: Tensor | None) -> Tensor:
    """Return the loss of sentences that have to find the rest of their passages, as the base model would."""
    texts = claims.T.reshape(-1)
    unique, back = torch.unique(texts, return_inverse=True)
    asked, passages = encode(encoder, table, unique, plan.tokens)[back].chunk(2)
    itself = torch.eye(len(claims), dtype=torch.bool, device=table.device)
    twins = (claims[:, 1][None] == claims[:, 1][:, None]) & ~itself
    scores = (asked @ passages.T / plan.temperature).masked_fill(twins, _FAR)
    target = torch.arange(len(claims), device=table.device)
    loss = plan.claims_contrast * functional.cross_entropy(scores, target)
    if base is None:
        return loss
    questions, answers = base[texts].float().chunk(2)
    wanted = (questions @ answers.T / plan.temperature).masked_fill(twins, _FAR)
    among = (passages @ passages.T / plan.temperature).masked_fill(twins | itself, _FAR)
    among_wanted = (answers @ answers.T / plan.temperature).masked_fill(twins | itself, _FAR)
    near = (torch.cat([asked, passages]) * torch.cat([questions, answers])).sum(-1).mean()
    loss = loss + plan.claims_order * (_divergence(scores, wanted) + 0.5 * _divergence(among, among_wanted))
    return loss + plan.claims_follow * (1 - near)


def _divergence(scores: Tensor, wanted: Tensor) -> Tensor:
    return functional.kl_div(scores.log_softmax(-1), wanted.log_softmax(-1), log_target=True, reduction="batchmean")
