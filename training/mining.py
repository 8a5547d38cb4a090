"""Finds hard negatives with the model that is being trained, and the plain texts that its teacher holds for akin."""

import random
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from training.contrastive import Numbered
from training.pairs import Pair

#: The nearest few are often right answers that nobody labelled.
_SKIPPED = 5
_DEPTH = 60
#: A text nearer than this share of the right answer's nearness is taken for another right answer.
_MOST = 0.95
_ROWS = 4096


@torch.no_grad()
def with_mined(pairs: Sequence[Pair], numbered: Sequence[Numbered], vectors: Tensor, each: int) -> list[Numbered]:
    """Return the pairs with up to `each` more negatives, found among the answers of the same source."""
    found: list[Numbered] = list(numbered)
    by_source: dict[str, list[int]] = {}
    for place, pair in enumerate(pairs):
        by_source.setdefault(pair.source, []).append(place)
    for places in by_source.values():
        pool = torch.tensor(sorted({numbered[place].positive for place in places}), device=vectors.device)
        for start in range(0, len(places), _ROWS):
            part = places[start : start + _ROWS]
            asked = vectors[[numbered[place].query for place in part]]
            answers = vectors[[numbered[place].positive for place in part]]
            near, which = (asked @ vectors[pool].T).topk(min(_DEPTH, len(pool)), dim=1)
            limit = (asked * answers).sum(-1, keepdim=True) * _MOST
            wrong = near < limit
            wrong[:, :_SKIPPED] = False
            # Every third of the wrong ones, so that the negatives are of several grades.
            best, at = near.masked_fill(~wrong, -1.0).topk(min(3 * each, near.shape[1]), dim=1)
            picked = torch.where(best > -1.0, pool[which.gather(1, at)], -1)[:, ::3].tolist()
            for place, numbers in zip(part, picked, strict=True):
                one = numbered[place]
                more = (number for number in numbers if number not in (-1, one.positive, one.query))
                found[place] = replace(one, negatives=tuple(dict.fromkeys((*one.negatives, *more))))
    return found


#: The nearest texts from which the akin ones are drawn, and how many texts are compared at once.
_AKIN, _ANCHORS_AT_ONCE = 24, 2000


@torch.no_grad()
def akin(vectors: Tensor, numbers: Sequence[int], groups: int, each: int, seed: int) -> list[list[int]]:
    """Return groups of texts: one by chance, and some of those nearest to it.

    Among texts by chance the teacher's order says little; what a student misses is the order of texts that are alike.
    """
    chance = random.Random(seed)
    among = torch.tensor(numbers, device=vectors.device)
    pool = vectors[among]
    chosen = chance.sample(range(len(numbers)), min(groups, len(numbers)))
    found: list[list[int]] = []
    for start in range(0, len(chosen), _ANCHORS_AT_ONCE):
        part = torch.tensor(chosen[start : start + _ANCHORS_AT_ONCE], device=vectors.device)
        near = (pool[part] @ pool.T).topk(min(_AKIN, len(numbers)), dim=1).indices
        for own, places in zip(part.tolist(), among[near].tolist(), strict=True):
            others = [place for place in places if place != numbers[own]]
            found.append([numbers[own], *chance.sample(others, min(each - 1, len(others)))])
    return found
