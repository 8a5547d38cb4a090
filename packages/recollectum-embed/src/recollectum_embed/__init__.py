"""Where the files of recollectum-embed lie, what they must hash to, and the shape of their vectors."""

from pathlib import Path
from typing import Final

NAME: Final = "recollectum-embed"
DIMENSIONS: Final = 384
MAX_TOKENS: Final = 512

MODEL: Final = Path(__file__).with_name("recollectum-embed.w8.onnx")
MODEL_SHA256: Final = "3a35351de1286ee8d937b02c33e0da791182f5eb2f32489d5c3831e637dfad0d"

TOKENIZER: Final = Path(__file__).with_name("tokenizer.json")
TOKENIZER_SHA256: Final = "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0"
