"""Reads the weights of a weight-only int8 ONNX model of BERT's shape, and writes trained weights into such a file."""

from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

Weights = dict[str, NDArray[np.float32]]

#: The matrices of one layer, in the order in which the graph multiplies by them.
_MATRICES = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
_MATMUL = "onnx::MatMul"
_OUTPUT = "last_hidden_state"
_MOST = 127


def read_weights(path: Path) -> Weights:
    """Return the weights by BERT's names, the matrices as `torch.nn.Linear` keeps them."""
    model = onnx.load(str(path))
    stored = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    names = _matrix_names(model)
    weights: Weights = {}
    for node in _dequantised(model):
        axis = _axis(node)
        scales = stored[node.input[1]].reshape([-1 if at == axis else 1 for at in range(2)])
        full = stored[node.input[0]].astype(np.float32) * scales
        name = node.output[0]
        weights[names.get(name, name)] = full.T if name in names else full
    for name, value in stored.items():
        if name.startswith(("embeddings.", "encoder.")) and not name.endswith(("_q", "_s", "_z")):
            weights[name] = value
    return {name: np.ascontiguousarray(value, np.float32) for name, value in weights.items()}


def quantise(weights: NDArray[np.float32], axis: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return a matrix as int8 and one scale for each row (axis 0) or column (axis 1)."""
    scales = np.abs(weights).max(axis=1 - axis) / _MOST
    scales = np.where(scales == 0, 1e-8, scales).astype(np.float32)
    shaped = scales.reshape([-1 if at == axis else 1 for at in range(2)])
    return np.clip(np.round(weights / shaped), -_MOST, _MOST).astype(np.int8), scales


def write_weights(base: Path, weights: Weights, layers: int, out: Path) -> None:
    """Write a model with these weights: the graph of `base`, cut after its first `layers` layers."""
    model = onnx.load(str(base))
    names = _matrix_names(model)
    _cut(model, layers)
    stored = {one.name: one for one in model.graph.initializer}

    def put(name: str, value: "NDArray[np.int8] | NDArray[np.float32]") -> None:
        stored[name].CopyFrom(numpy_helper.from_array(np.ascontiguousarray(value), name))

    for node in _dequantised(model):
        name = node.output[0]
        full = weights[names[name]].T if name in names else weights[name]
        numbers, scales = quantise(full, _axis(node))
        put(node.input[0], numbers)
        put(node.input[1], scales)
        if len(node.input) > 2:
            # One zero point for each scale; a narrower layer has fewer.
            put(node.input[2], np.zeros(len(scales), np.int8))
    for name in stored:
        if name in weights:
            put(name, weights[name])
    onnx.checker.check_model(model)
    out.write_bytes(model.SerializeToString())


def _dequantised(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    return [node for node in model.graph.node if node.op_type == "DequantizeLinear"]


def _axis(node: onnx.NodeProto) -> int:
    return next((one.i for one in node.attribute if one.name == "axis"), 1)


def _matrix_names(model: onnx.ModelProto) -> dict[str, str]:
    """Return BERT's name of each matrix that the graph calls by a number; the numbers rise from layer to layer."""
    numbered = sorted(
        (node.output[0] for node in _dequantised(model) if node.output[0].startswith(_MATMUL)),
        key=lambda name: int(name.rpartition("_")[2]),
    )
    return {
        name: f"encoder.layer.{at // len(_MATRICES)}.{_MATRICES[at % len(_MATRICES)]}.weight"
        for at, name in enumerate(numbered)
    }


def _cut(model: onnx.ModelProto, layers: int) -> None:
    """Make the output of layer `layers` the output of the model, and drop whatever no longer leads to it."""
    graph = model.graph
    made_by = {output: node for node in graph.node for output in node.output}
    last = f"/encoder/layer.{layers - 1}/output/LayerNorm/Add_1"
    (end,) = [node for node in graph.node if node.name == last]
    if end.output[0] != _OUTPUT:
        made_by[_OUTPUT].output[0] = "unused"
        end.output[0] = _OUTPUT
    needed: set[str] = set()
    waiting = [_OUTPUT]
    made_by[_OUTPUT] = end
    while waiting:
        name = waiting.pop()
        if name in needed:
            continue
        needed.add(name)
        if name in made_by:
            waiting.extend(made_by[name].input)
    kept = [node for node in graph.node if needed & set(node.output)]
    tensors = [one for one in graph.initializer if one.name in needed]
    del graph.node[:]
    graph.node.extend(kept)
    del graph.initializer[:]
    graph.initializer.extend(tensors)
    del graph.value_info[:]
