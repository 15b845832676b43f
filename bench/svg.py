"""The little SVG that picture.py and curves.py draw: text, lines, boxes, a logarithmic axis.

Law    a picture is one file: no script, no font of its own, nothing fetched. Every text is
       escaped. Its background is its own, so that it is legible wherever it is shown.
"""

import math
import textwrap
from xml.sax.saxutils import escape, quoteattr

# Of middle brightness: they stand out on white and on black.
COLOURS = ["#1594c4", "#e0762b", "#9a62d8", "#2f9e63", "#d6497b", "#8a8f98", "#b08d1f", "#5c7cfa", "#20a39e", "#7a5c42"]

STYLE = """
text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 12px; fill: #1f2328 }
.ground { fill: #ffffff } .faint { fill: #59636e; font-size: 11px } .title { font-size: 15px; font-weight: 600 }
.head { font-weight: 600 } .grid { stroke: #d1d9e0 } .axis { stroke: #59636e } .hollow { fill: #ffffff }
.end { text-anchor: end } .middle { text-anchor: middle }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .ground { fill: #0d1117 } .faint { fill: #9198a1 }
.grid { stroke: #30363d } .axis { stroke: #9198a1 } .hollow { fill: #0d1117 } }
"""


class Canvas:
    """Grows downwards: the height is known at the end."""

    def __init__(self, width, title):
        self.width, self.title, self.parts = width, title, []

    def add(self, tag, content=None, **attributes):
        """An element; class_ is its class, and a _ in a name stands for a hyphen."""
        words = []
        for name, value in attributes.items():
            shown = f"{value:.1f}" if isinstance(value, float) else str(value)
            words.append(f" {name.rstrip('_').replace('_', '-')}={quoteattr(shown)}")
        end = "/>" if content is None else f">{escape(content)}</{tag}>"
        self.parts.append(f"<{tag}{''.join(words)}{end}")

    def text(self, x, y, words, class_="", **more):
        self.add("text", words, x=float(x), y=float(y), **({"class_": class_} if class_ else {}), **more)

    def line(self, x1, y1, x2, y2, class_="grid"):
        self.add("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=class_)

    def bar(self, x1, x2, y, height, colour):
        left, right = min(x1, x2), max(x1, x2)
        self.add("rect", x=float(left), y=float(y), width=float(right - left), height=float(height), fill=colour)

    def legend(self, x, y, entries, limit=None):
        """(name, colour) side by side, in as many lines as they take; returns the last one's y."""
        at, limit = x, limit or self.width
        for name, colour in entries:
            width = 24 + 7 * len(name)
            if at > x and at + width > limit:
                at, y = x, y + 16
            self.bar(at, at + 10, y - 9, 10, colour)
            self.text(at + 14, y, name)
            at += width
        return y

    def caption(self, x, y, lines):
        """Small text, folded at the width; returns the y below it."""
        for line in lines:
            for piece in textwrap.wrap(line, int((self.width - 2 * x) / 6)):
                self.text(x, y, piece, "faint")
                y += 15
        return y

    def finish(self, height):
        size = f'width="{self.width:.0f}" height="{height:.0f}" viewBox="0 0 {self.width:.0f} {height:.0f}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
        ground = '<rect class="ground" width="100%" height="100%"/>'
        style = f"<style>{STYLE}</style>"
        return "\n".join([head, f"<title>{escape(self.title)}</title>", style, ground, *self.parts, "</svg>", ""])


class LogScale:
    """Values from low to high onto begin to end, widened to the next 1, 2 or 5 on both sides."""

    def __init__(self, low, high, begin, end):
        steps = [m * 10.0**e for e in range(-9, 13) for m in (1, 2, 5)]
        self.low = max(s for s in steps if s <= low * (1 + 1e-9))
        self.high = min(s for s in steps if s >= high * (1 - 1e-9) and s > self.low)
        self.begin, self.end = begin, end
        inside = [s for s in steps if self.low <= s <= self.high]
        decades = [s for s in inside if math.log10(s) == round(math.log10(s))]
        self.ticks = inside if len(inside) <= 8 or len(decades) < 2 else decades

    def __call__(self, value):
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.begin + share * (self.end - self.begin)


def number(value, digits=3):
    """So many digits that count, as a person writes them: 0.17, 9.5, 136, 1,240,000."""
    if value == 0:
        return "0"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    text = f"{round(value, places):,.{max(places, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def short(value):
    """A tick: 0.1, 20, 1k, 10M."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def provenance(document):
    """Where a result comes from, as lines of a caption."""
    m = document["machine"]
    seen = {}
    for program, words in document["compilers"].items():
        seen.setdefault(words or "unknown", []).append(program)
    built = "; ".join(f"{', '.join(names)}: {words}" for words, names in seen.items())
    load = f"load {m['load_before']} before and {m['load_after']} after" if "load_after" in m else ""
    where = f"{m['cpu']}, {m['cores']} cores, {m['memory_mb'] / 1024:.0f} GB, {m['kernel']}"
    return [f"{where}{', ' + load if load else ''}.", f"Built with: {built}.",
            f"Commit {document['commit']}, {document['date']}: {document['command']}"]
