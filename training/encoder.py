"""The encoder in PyTorch: BERT's layers, the mean of the tokens' vectors, unit length."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from training.onnx_weights import Weights

WIDTH = 384
_HEADS = 12
_WORDS = 30522
_PLACES = 512
_EPSILON = 1e-12
_INSIDE = "intermediate.dense"
_OUTSIDE = "output.dense"


class _Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        texts, length, _ = states.shape

        def heads(part: nn.Module) -> Tensor:
            return part(states).view(texts, length, _HEADS, WIDTH // _HEADS).transpose(1, 2)

        mixed = functional.scaled_dot_product_attention(
            heads(self.query), heads(self.key), heads(self.value), attn_mask=mask
        )
        return mixed.transpose(1, 2).reshape(texts, length, WIDTH)


class _Sum(nn.Module):
    """A linear layer, the sum with what came in, and a norm."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.dense = nn.Linear(size, WIDTH)
        self.LayerNorm = nn.LayerNorm(WIDTH, eps=_EPSILON)

    def forward(self, states: Tensor, before: Tensor) -> Tensor:
        return self.LayerNorm(self.dense(states) + before)


class _Layer(nn.Module):
    # The names are those of the weights in the file.
    def __init__(self, inner: int) -> None:
        super().__init__()
        self.attention = nn.ModuleDict({"self": _Attention(), "output": _Sum(WIDTH)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(WIDTH, inner)})
        self.output = _Sum(inner)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        states = self.attention["output"](self.attention["self"](states, mask), states)
        return self.output(functional.gelu(self.intermediate["dense"](states)), states)


class _Embeddings(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(_WORDS, WIDTH)
        self.position_embeddings = nn.Embedding(_PLACES, WIDTH)
        self.token_type_embeddings = nn.Embedding(2, WIDTH)
        self.LayerNorm = nn.LayerNorm(WIDTH, eps=_EPSILON)

    def forward(self, tokens: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.LayerNorm(
            self.word_embeddings(tokens) + self.position_embeddings(places) + self.token_type_embeddings.weight[0]
        )


class Encoder(nn.Module):
    """Turns tokens into one unit vector a text; `inner` is the width inside each layer."""

    def __init__(self, layers: int, inner: int) -> None:
        super().__init__()
        self.embeddings = _Embeddings()
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(_Layer(inner) for _ in range(layers))})

    @property
    def layers(self) -> int:
        """Return the number of layers."""
        return len(self.encoder["layer"])

    def forward(self, tokens: Tensor, present: Tensor) -> Tensor:
        """Return the vectors of texts; `present` is true where a token is and false in the padding."""
        mask = present[:, None, None, :]
        states = self.embeddings(tokens)
        for layer in self.encoder["layer"]:
            states = layer(states, mask)
        weights = present[..., None].float()
        return functional.normalize((states.float() * weights).sum(1) / weights.sum(1), dim=-1)


def encoder_with(weights: Weights, layers: Sequence[int]) -> Encoder:
    """Return an encoder made of some layers of these weights."""
    made = Encoder(len(layers), len(weights[f"encoder.layer.{layers[0]}.{_INSIDE}.weight"]))
    state: dict[str, Tensor] = {}
    for name, value in weights.items():
        parts = name.split(".")
        if parts[0] == "encoder":
            if int(parts[2]) not in layers:
                continue
            parts[2] = str(list(layers).index(int(parts[2])))
        state[".".join(parts)] = torch.from_numpy(np.array(value))
    made.load_state_dict(state)
    return made


def narrowed(weights: Weights, inner: int) -> Weights:
    """Return the weights with the `inner` strongest units inside each layer: by the weights that lead in and out."""
    made = dict(weights)
    for name, into in weights.items():
        layer, found, _ = name.partition(f".{_INSIDE}.weight")
        if not found:
            continue
        out = weights[f"{layer}.{_OUTSIDE}.weight"]
        strength = np.linalg.norm(into, axis=1) * np.linalg.norm(out, axis=0)
        kept = np.sort(np.argsort(-strength, kind="stable")[:inner])
        made[name] = np.ascontiguousarray(into[kept])
        made[f"{layer}.{_INSIDE}.bias"] = weights[f"{layer}.{_INSIDE}.bias"][kept]
        made[f"{layer}.{_OUTSIDE}.weight"] = np.ascontiguousarray(out[:, kept])
    return made


def weights_of(encoder: Encoder) -> Weights:
    """Return the weights of an encoder by BERT's names."""
    return {name: value.detach().float().cpu().numpy() for name, value in encoder.state_dict().items()}


def mixed(trained: Weights, base: Weights, share: float) -> Weights:
    """Return the weighted mean of two sets of weights: a share of the trained ones, the rest of the base."""
    return {name: (share * value + (1 - share) * base[name]).astype(np.float32) for name, value in trained.items()}
