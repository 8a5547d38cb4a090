"""Draws plots with error bars as SVG: groups of bars between 0 and 1, and differences around 0."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from bench.error_bars import ErrorBar

_COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#9c755f", "#76b7b2")
_BAR, _GAP, _LEFT, _TOP, _HEIGHT, _BELOW = 34, 30, 46, 56, 220, 34


def bars(title: str, groups: Mapping[str, Mapping[str, ErrorBar]], names: Sequence[str]) -> str:
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


def _group(
    label: str, values: Mapping[str, ErrorBar], colours: Mapping[str, str], left: int, width: int
) -> Iterator[str]:
    begin = left + (width - len(values) * _BAR) / 2
    for place, (name, value) in enumerate(values.items()):
        x, y = begin + place * _BAR, _level(value.mean)
        shape = f'x="{x:.1f}" y="{y:.1f}" width="{_BAR - 4}" height="{_level(0) - y:.1f}"'
        yield f'<rect {shape} fill="{colours[name]}"><title>{escape(name)} {value}</title></rect>'
        middle, low, high = x + _BAR / 2 - 2, _level(value.low), _level(value.high)
        yield f'<path d="M{middle - 4:.1f} {high:.1f}h8m-4 0V{low:.1f}m-4 0h8" fill="none" stroke="#333333"/>'
        yield f'<text x="{middle:.1f}" y="{high - 4:.1f}" text-anchor="middle" font-size="10">{value.mean:.2f}</text>'
    yield f'<text x="{left + width / 2:.1f}" y="{_level(0) + 20:.1f}" text-anchor="middle">{escape(label)}</text>'


def _level(value: float) -> float:
    return _TOP + _HEIGHT * (1 - value)


_PANEL, _ROW, _LABELS, _IN_ROW = 150, 20, 170, 5
#: A panel shows differences from so many points below 0 to so many above it; a lower mean is a number at the edge.
_LEAST, _MOST = -12.0, 4.0


def ranges(title: str, panels: Mapping[tuple[str, str], Mapping[str, ErrorBar]]) -> str:
    """Return the SVG: a panel for each set and metric, with the mean and the interval of each name around 0."""
    names = list(dict.fromkeys(name for values in panels.values() for name in values))
    lines = -(-len(panels) // _IN_ROW)
    below = _TOP + _ROW * len(names) + 28
    width, height = _LABELS + (_PANEL + _GAP) * max(3, min(len(panels), _IN_ROW)), 34 + below * lines
    parts = ['<rect width="100%" height="100%" fill="#ffffff"/>']
    parts.append(f'<text x="10" y="18" font-size="15" font-weight="bold">{escape(title)}</text>')
    parts.append('<text x="10" y="34">with 95 % intervals; grey: the interval includes 0</text>')
    for place, (label, values) in enumerate(panels.items()):
        line, column = divmod(place, _IN_ROW)
        top = 30 + line * below
        if column == 0:
            parts += [
                f'<text x="{_LABELS - 10}" y="{top + _row(at) + 4}" text-anchor="end">{escape(name)}</text>'
                for at, name in enumerate(names)
            ]
        moved = f'<g transform="translate({_LABELS + column * (_PANEL + _GAP)} {top})">'
        parts += [moved, *_panel(label, values, names), "</g>"]
    inside = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="12" role="img" aria-label="{escape(title)}">\n{inside}\n</svg>\n'
    )


def _panel(label: tuple[str, str], values: Mapping[str, ErrorBar], names: Sequence[str]) -> Iterator[str]:
    bottom = _row(len(names)) - 6
    for y, text in zip((26, 42), label, strict=True):
        yield f'<text x="{_PANEL / 2}" y="{y}" text-anchor="middle">{escape(text)}</text>'
    for points in range(int(_LEAST), int(_MOST) + 1, 4):
        x, colour, signed = _across(points), "#dddddd" if points else "#888888", f"{points:+d}" if points else "0"
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 6}" y2="{bottom}" stroke="{colour}"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle" font-size="10">{signed}</text>'
    for place, name in enumerate(names):
        if bar := values.get(name):
            yield from _range(name, bar, _row(place))


def _range(name: str, bar: ErrorBar, y: float) -> Iterator[str]:
    sure = bar.low > 0 or bar.high < 0
    colour = "#9a9a9a" if not sure else _COLOURS[0] if bar.mean < 0 else _COLOURS[1]
    low, high, middle = (_across(one) for one in (bar.low, bar.high, bar.mean))
    yield f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="2"/>'
    shape = f'<circle cx="{middle:.1f}" cy="{y}" r="4" fill="{colour}">'
    yield f"{shape}<title>{escape(name)} {bar.mean:+.1f} ({bar.low:+.1f} to {bar.high:+.1f})</title></circle>"
    if bar.mean < _LEAST:
        yield f'<text x="8" y="{y - 4}" font-size="10" fill="{colour}">{bar.mean:+.0f}</text>'


def _row(place: int) -> float:
    return _TOP + _ROW * (place + 0.5)


def _across(points: float) -> float:
    return _PANEL * (min(max(points, _LEAST), _MOST) - _LEAST) / (_MOST - _LEAST)
