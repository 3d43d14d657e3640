"""Text to a small inline tree, and back to the characters a reader sees.

The law: the visible characters of the tree are those of the source without the recognised markers - back-ticks, `**`,
`~~`, the brackets and target of a Markdown link, the numbers of a recognised in-line list with the blanks around them.
`*x*`, `_x_` and `~x~` are data. Links are only http and https, and nothing here can name a person or a channel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import quote

from bot.model import Span
from bot.text.emphasis import Edge, edges_of, snapped
from bot.text.enumeration import ListRange, enumeration_of
from bot.text.scan import Kind, Piece, scan
from bot.text.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Characters as they stand."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Characters to be shown as code."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Characters that lead to an http(s) address. `code`: shown as code, too (a file of the repository)."""

    text: str
    url: str
    code: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Bold:
    """Strong emphasis, written `**x**`, or laid over the text by the caller (the verdict). Holds no other Bold."""

    children: tuple[Text | Code | Link | Strike, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strike:
    """Struck out, written `~~x~~`. Holds plain text, code and links."""

    children: tuple[Text | Code | Link, ...]


Inline: TypeAlias = Text | Code | Link | Bold | Strike
Leaf: TypeAlias = Text | Code | Link


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """A run of text; its lines are parted by a line feed inside Text."""

    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Enumeration:
    """An in-line list `1) ... 2) ...`, without its numbers."""

    items: tuple[tuple[Inline, ...], ...]


Node: TypeAlias = Paragraph | Enumeration


def parse(
    text: str, *, repo: str | None = None, vocabulary: Vocabulary, emphasis: Span | None = None
) -> tuple[Node, ...]:
    """Read a body. `repo` (`owner/name`) makes `#12` and paths links; `emphasis` is the part of `text` to be bold."""
    pieces = scan(text, vocabulary)
    builder = _Builder(text, pieces, repo, emphasis)
    found = enumeration_of(text, pieces)
    if found is None:
        return _paragraphs([builder.inline(0, len(text))])
    return tuple(_nodes(builder, found, len(text)))


def parse_inline(
    text: str, *, repo: str | None = None, vocabulary: Vocabulary, emphasis: Span | None = None
) -> tuple[Inline, ...]:
    """Read a title: as `parse`, but `1) ... 2) ...` stays text."""
    pieces = scan(text, vocabulary)
    return _Builder(text, pieces, repo, emphasis).inline(0, len(text))


def plain(nodes: Iterable[Node | Inline], *, numbers: bool = True) -> str:
    """Give the visible characters. Nodes and list items begin lines of their own; `numbers` puts `1) ` before items."""
    lines: list[str] = []
    run: list[str] = []
    for node in nodes:
        if not isinstance(node, Paragraph | Enumeration):
            run.append(_visible(node))
            continue
        if run:
            lines.append("".join(run))
            run = []
        if isinstance(node, Paragraph):
            lines.append("".join(map(_visible, node.children)))
            continue
        for number, item in enumerate(node.items, start=1):
            lines.append(f"{number}) " * numbers + "".join(map(_visible, item)))
    if run:
        lines.append("".join(run))
    return "\n".join(lines)


def _visible(inline: Inline) -> str:
    if isinstance(inline, Bold | Strike):
        return "".join(map(_visible, inline.children))
    return inline.text


def _paragraphs(runs: Iterable[tuple[Inline, ...]]) -> tuple[Node, ...]:
    return tuple(Paragraph(children=run) for run in runs if run)


def _nodes(builder: _Builder, found: ListRange, length: int) -> Iterator[Node]:
    yield from _paragraphs([builder.inline(0, found.start)])
    yield Enumeration(items=tuple(builder.inline(start, end) for start, end in found.items))
    yield from _paragraphs([builder.inline(found.end, length)])


class _Builder:
    """Lays pieces and emphasis over one text. `inline` must be called for ranges in ascending order."""

    def __init__(self, text: str, pieces: list[Piece], repo: str | None, emphasis: Span | None) -> None:
        self._text = text
        self._pieces = pieces
        self._repo = repo
        laid = None if emphasis is None else snapped(emphasis, pieces, len(text))
        self._edges = edges_of(text, pieces, laid)
        self._piece = 0
        self._edge = 0
        self._bold = 0
        self._strike = 0

    def inline(self, start: int, end: int) -> tuple[Inline, ...]:
        leaves: list[tuple[bool, bool, Leaf]] = []
        position = start
        while position < end:
            position = self._pass_edges(position)
            if position >= end:
                break
            stop = end
            if self._edge < len(self._edges):
                stop = min(end, self._edges[self._edge].start)
            style = (self._bold > 0, self._strike > 0)
            position = self._one_style(position, stop, style, leaves)
        return _grouped(leaves)

    def _one_style(
        self, position: int, stop: int, style: tuple[bool, bool], leaves: list[tuple[bool, bool, Leaf]]
    ) -> int:
        """Add the leaves up to the next change of style; give the place reached (a piece is never cut)."""
        text, pieces, index = self._text, self._pieces, self._piece
        bold, strike = style
        while position < stop:
            while index < len(pieces) and pieces[index].start < position:
                index += 1
            piece = pieces[index] if index < len(pieces) else None
            if piece is None or piece.start >= stop:
                leaves.append((bold, strike, Text(text=text[position:stop])))
                position = stop
                break
            if piece.start > position:
                leaves.append((bold, strike, Text(text=text[position : piece.start])))
            leaves.append((bold, strike, self._leaf(piece)))
            position = piece.end
        self._piece = index
        return position

    def _pass_edges(self, position: int) -> int:
        """Take in every change of emphasis up to here, and step over its marker."""
        while self._edge < len(self._edges) and self._edges[self._edge].start <= position:
            edge: Edge = self._edges[self._edge]
            self._bold += edge.bold
            self._strike += edge.strike
            position = max(position, edge.end)
            self._edge += 1
        return position

    def _leaf(self, piece: Piece) -> Leaf:
        url = _url_of(piece, self._repo)
        if url:
            return Link(text=piece.shown, url=url, code=piece.code)
        return Code(text=piece.shown) if piece.code else Text(text=piece.shown)


def _url_of(piece: Piece, repo: str | None) -> str:
    if piece.kind is Kind.LINK:
        return quote(piece.url, safe="%:/?#[]@!$&'()*+,;=-._~")
    if piece.kind is Kind.PULL:
        home = piece.repo or repo
        return f"https://github.com/{home}/pull/{piece.number}" if home else ""
    if piece.target is None or not piece.target.linked or not repo:
        return ""
    path = quote(piece.target.path.removeprefix("./").rstrip("/"))
    kind = "tree" if piece.target.folder else "blob"
    line = piece.target.line
    anchor = f"#L{line[1:].replace('-', '-L')}" if line.startswith(":") and line[1:2].isdigit() else ""
    return f"https://github.com/{repo}/{kind}/HEAD/{path}{anchor or (line if line.startswith('#') else '')}"


def _grouped(leaves: list[tuple[bool, bool, Leaf]]) -> tuple[Inline, ...]:
    """Join neighbours of one style; Bold outside Strike."""
    if not any(bold or struck for bold, struck, _ in leaves):
        plain_run: list[Leaf] = []
        for _, _, leaf in leaves:
            _append(plain_run, leaf)
        return tuple(plain_run)
    out: list[Inline] = []
    index = 0
    while index < len(leaves):
        bold = leaves[index][0]
        stop = index
        while stop < len(leaves) and leaves[stop][0] == bold:
            stop += 1
        inner = _struck([(struck, leaf) for _, struck, leaf in leaves[index:stop]])
        if bold:
            out.append(Bold(children=tuple(inner)))
        else:
            out.extend(inner)
        index = stop
    return tuple(out)


def _struck(leaves: list[tuple[bool, Leaf]]) -> list[Text | Code | Link | Strike]:
    out: list[Text | Code | Link | Strike] = []
    if not any(struck for struck, _ in leaves):
        plain_run: list[Leaf] = []
        for _, leaf in leaves:
            _append(plain_run, leaf)
        return [*plain_run]
    index = 0
    while index < len(leaves):
        struck = leaves[index][0]
        run: list[Leaf] = []
        while index < len(leaves) and leaves[index][0] == struck:
            _append(run, leaves[index][1])
            index += 1
        if struck:
            out.append(Strike(children=tuple(run)))
        else:
            out.extend(run)
    return out


def _append(run: list[Leaf], leaf: Leaf) -> None:
    """Add a leaf, as part of the text before it where both are text."""
    if isinstance(leaf, Text) and run and isinstance(run[-1], Text):
        run[-1] = Text(text=run[-1].text + leaf.text)
    else:
        run.append(leaf)
