"""Keeps many texts as tokens on the device, and encodes any of them in batches of similar length."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from training.encoder import WIDTH, Encoder


class TokenTable:
    """Texts by number; equal texts have one number."""

    def __init__(self, tokenizer: Path, texts: Sequence[str], *, longest: int, device: str) -> None:
        reader = Tokenizer.from_file(str(tokenizer))
        reader.no_padding()
        reader.enable_truncation(longest)
        reader.encode_special_tokens = True
        self.device = device
        self.texts = list(dict.fromkeys(texts))
        self.numbers = {text: number for number, text in enumerate(self.texts)}
        rows = [one.ids for one in reader.encode_batch_fast(self.texts)]
        lengths = np.array([len(row) for row in rows], np.int64)
        self._lengths = torch.from_numpy(lengths).to(device)
        self._starts = torch.from_numpy(np.concatenate([[0], np.cumsum(lengths)[:-1]])).to(device)
        flat = np.fromiter((token for row in rows for token in row), np.int32, int(lengths.sum()))
        # One more row of padding, so that a gather past the last text stays inside.
        self._flat = torch.from_numpy(np.concatenate([flat, np.zeros(longest, np.int32)])).to(device)

    def batches(self, numbers: Tensor, tokens: int) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Yield places in `numbers`, tokens and where tokens are, the shortest texts first, bounded by tokens."""
        lengths = self._lengths[numbers]
        order = lengths.argsort()
        sizes = lengths[order].tolist()
        start = 0
        while start < len(sizes):
            end = start + 1
            while end < len(sizes) and sizes[end] * (end + 1 - start) <= tokens:
                end += 1
            places = order[start:end]
            yield places, *self._gather(numbers[places], sizes[end - 1])
            start = end

    def _gather(self, numbers: Tensor, longest: int) -> tuple[Tensor, Tensor]:
        steps = torch.arange(longest, device=self.device)
        present = steps[None] < self._lengths[numbers][:, None]
        tokens = self._flat[self._starts[numbers][:, None] + steps[None]].long()
        return tokens * present, present


def encode(encoder: Encoder, table: TokenTable, numbers: Tensor, tokens: int) -> Tensor:
    """Return one vector for each number, in order, with gradients where they are on."""
    rows: list[Tensor] = []
    places: list[Tensor] = []
    kind = "cuda" if table.device.startswith("cuda") else "cpu"
    for at, ids, present in table.batches(numbers, tokens):
        with torch.autocast(kind, torch.bfloat16, enabled=kind == "cuda"):
            rows.append(encoder(ids, present))
        places.append(at)
    back = torch.cat(places).argsort()
    return torch.cat(rows)[back]


@torch.no_grad()
def encode_all(encoder: Encoder, table: TokenTable, tokens: int = 1 << 18) -> Tensor:
    """Return the vectors of all texts, in order, without gradients."""
    encoder.eval()
    out = torch.zeros(len(table.texts), WIDTH, device=table.device)
    numbers = torch.arange(len(table.texts), device=table.device)
    kind = "cuda" if table.device.startswith("cuda") else "cpu"
    for at, ids, present in table.batches(numbers, tokens):
        with torch.autocast(kind, torch.bfloat16, enabled=kind == "cuda"):
            out[at] = encoder(ids, present)
    return out
