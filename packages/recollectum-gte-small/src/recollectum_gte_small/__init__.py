"""Where the files of gte-small lie, what they must hash to, and the shape of their vectors."""

from pathlib import Path
from typing import Final

NAME: Final = "gte-small"
DIMENSIONS: Final = 384
MAX_TOKENS: Final = 512

MODEL: Final = Path(__file__).with_name("gte-small.w8.onnx")
MODEL_SHA256: Final = "e158942cd9822afc73470535308437d4063b998ee0fdb550abc9020d945bf9ab"

TOKENIZER: Final = Path(__file__).with_name("tokenizer.json")
TOKENIZER_SHA256: Final = "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0"
