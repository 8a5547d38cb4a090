"""Where the files of recollectum-embed-quick lie, what they must hash to, and the shape of their vectors."""

from pathlib import Path
from typing import Final

NAME: Final = "recollectum-embed-quick"
DIMENSIONS: Final = 384
MAX_TOKENS: Final = 512

MODEL: Final = Path(__file__).with_name("recollectum-embed-quick.w8.onnx")
MODEL_SHA256: Final = "06337ee63923068800820f7278e0bb05f1b8fda9ec45f8bb2930a583e5708f9b"

TOKENIZER: Final = Path(__file__).with_name("tokenizer.json")
TOKENIZER_SHA256: Final = "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0"
