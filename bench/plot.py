"""Draws a bar plot as SVG: groups of bars between 0 and 1."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape

_COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#9c755f", "#76b7b2")
_BAR, _GAP, _LEFT, _TOP, _HEIGHT, _BELOW = 34, 30, 46, 56, 220, 34


def bars(title: str, groups: Mapping[str, Mapping[str, float]], names: Sequence[str]) -> str:
    """Return the SVG: one group of bars for each set, one colour for each name."""
    colours = {name: _COLOURS[place % len(_COLOURS)] for place, name in enumerate(names)}
    widths = [max(len(values) * _BAR, 110) for values in groups.values()]
    width = max(_LEFT + sum(widths) + _GAP * (len(widths) + 1), _LEFT + 110 * len(names))
    parts = [*_frame(title, width), *_legend(colours)]
    left = _LEFT + _GAP
    for (label, values), taken in zip(groups.items(), widths, strict=True):
        parts += _group(label, values, colours, left, taken)
        left += taken + _GAP
    inside = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {_TOP + _HEIGHT + _BELOW}" '
        f'font-family="sans-serif" font-size="12" role="img" aria-label="{escape(title)}">\n{inside}\n</svg>\n'
    )


def _frame(title: str, width: int) -> Iterator[str]:
    yield '<rect width="100%" height="100%" fill="#ffffff"/>'
    yield f'<text x="{_LEFT}" y="18" font-size="15" font-weight="bold">{escape(title)}</text>'
    for step in range(6):
        y = _level(step / 5)
        yield f'<line x1="{_LEFT}" x2="{width}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>'
        yield f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{step / 5:.1f}</text>'


def _legend(colours: Mapping[str, str]) -> Iterator[str]:
    for place, (name, colour) in enumerate(colours.items()):
        x = _LEFT + 110 * place
        yield f'<rect x="{x}" y="29" width="11" height="11" fill="{colour}"/>'
        yield f'<text x="{x + 16}" y="39">{escape(name)}</text>'


def _group(label: str, values: Mapping[str, float], colours: Mapping[str, str], left: int, width: int) -> Iterator[str]:
    begin = left + (width - len(values) * _BAR) / 2
    for place, (name, value) in enumerate(values.items()):
        x, y = begin + place * _BAR, _level(value)
        shape = f'x="{x:.1f}" y="{y:.1f}" width="{_BAR - 4}" height="{_level(0) - y:.1f}"'
        yield f'<rect {shape} fill="{colours[name]}"><title>{escape(name)} {value:.3f}</title></rect>'
        yield f'<text x="{x + _BAR / 2 - 2:.1f}" y="{y - 4:.1f}" text-anchor="middle" font-size="10">{value:.2f}</text>'
    yield f'<text x="{left + width / 2:.1f}" y="{_level(0) + 20:.1f}" text-anchor="middle">{escape(label)}</text>'


def _level(value: float) -> float:
    return _TOP + _HEIGHT * (1 - value)
