"""A cross-encoder of a few hundred bytes, written field by field: the score of a pair is the sum of its text's ids."""

from pathlib import Path

#: Types of ONNX tensors.
_FLOAT, _INT64 = 1, 7


def write_pair_model(folder: Path, *, kinds: bool = True, columns: int = 1) -> None:
    """model.onnx and tokenizer.json; without `kinds` the model is not told which tokens are the question's.

    `columns` is how many scores it has for a pair: 0 is one that is not a number.
    """
    (folder / "model.onnx").write_bytes(_model(kinds=kinds, columns=columns))
    (folder / "tokenizer.json").write_text(_tokenizer())


def _tokenizer() -> str:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    made = Tokenizer(WordLevel({"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "tea": 10, "car": 11}, unk_token="[UNK]"))
    made.pre_tokenizer = Whitespace()
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    return made.to_str()


def _model(*, kinds: bool, columns: int) -> bytes:
    nodes = [_node("Mul", ["input_ids", "token_type_ids" if kinds else "attention_mask"], ["masked"])]
    nodes.append(_node("Cast", ["masked"], ["real"], [_whole("to", _FLOAT)]))
    nodes.append(_node("ReduceSum", ["real"], ["sum"], [_wholes("axes", [1]), _whole("keepdims", 1)]))
    match columns:
        case 0:
            nodes += [_node("Sub", ["sum", "sum"], ["none"]), _node("Div", ["none", "none"], ["logits"])]
        case 1:
            nodes.append(_node("Identity", ["sum"], ["logits"]))
        case _:
            nodes.append(_node("Concat", ["sum"] * columns, ["logits"], [_whole("axis", 1)]))
    inputs = ["input_ids", "attention_mask", *(["token_type_ids"] if kinds else [])]
    graph = b"".join(_bytes(1, node) for node in nodes) + _bytes(2, b"pairs")
    graph += b"".join(_bytes(11, _value(name, _INT64, ["batch", "length"])) for name in inputs)
    graph += _bytes(12, _value("logits", _FLOAT, ["batch", "columns"]))
    # ReduceSum with its axes as an attribute is of the operator set before 13.
    return _number(1, 7) + _bytes(7, graph) + _bytes(8, _bytes(1, b"") + _number(2, 12))


def _node(operator: str, inputs: list[str], outputs: list[str], attributes: list[bytes] | None = None) -> bytes:
    parts = [_bytes(1, name.encode()) for name in inputs] + [_bytes(2, name.encode()) for name in outputs]
    return b"".join([*parts, _bytes(4, operator.encode()), *(_bytes(5, one) for one in attributes or [])])


def _whole(name: str, value: int) -> bytes:
    return _bytes(1, name.encode()) + _number(3, value) + _number(20, 2)


def _wholes(name: str, values: list[int]) -> bytes:
    return _bytes(1, name.encode()) + b"".join(_number(8, value) for value in values) + _number(20, 7)


def _value(name: str, kind: int, sizes: list[str]) -> bytes:
    shape = b"".join(_bytes(1, _bytes(2, size.encode())) for size in sizes)
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    low = bytearray()
    while value > 127:
        low.append(value & 127 | 128)
        value >>= 7
    return bytes([*low, value])
