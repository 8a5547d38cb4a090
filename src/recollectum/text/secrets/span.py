"""Defines the span of a secret as the searches return it."""

#: Start, end, rank of the kind (lower is more certain), and kind.
Span = tuple[int, int, int, str]
