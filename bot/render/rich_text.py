"""From the spans of a digest's text to pieces of rich text, and those cut to size. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from bot.render import limits
from bot.render.pieces import Element, link, section, text_piece
from bot.render.split import best_cut, best_pause, ceiling
from bot.text.spans import Bold, Code, Enumeration, Inline, Link, Node, Strike, Text

WORST: Final = 5
"""The measure of the worst character, `&`."""
_BEYOND: Final = 4
"""So many elements after the first that has no room are looked at: a cut is judged by what follows it."""
_TRAILING: Final = "，、；：。,;:. \t\n\u3000"


def inline_pieces(nodes: Iterable[Inline], **styles: bool) -> list[Element]:
    """Inline spans as rich-text elements. Empty ones go."""
    found: list[Element] = []
    for node in nodes:
        if isinstance(node, Text):
            if node.text:
                found.append(text_piece(node.text, **styles))
        elif isinstance(node, Code):
            if node.text:
                found.append(text_piece(node.text, **styles, code=True))
        elif isinstance(node, Link):
            label = text_piece(node.text, **styles, code=True) if node.code else text_piece(node.text, **styles)
            if node.text:
                found += link(label, node.url)
        elif isinstance(node, Bold):
            found += inline_pieces(node.children, **{**styles, "bold": True})
        elif isinstance(node, Strike):
            found += inline_pieces(node.children, **{**styles, "strike": True})
    return found


def body_pieces(nodes: Iterable[Node]) -> list[Element]:
    """The lines of a text: sections and numbered lists, in order."""
    lines: list[Element] = []
    for node in nodes:
        if isinstance(node, Enumeration):
            items = [line for line in (section(inline_pieces(item)) for item in node.items) if line]
            if items:
                lines.append({"type": "rich_text_list", "style": "ordered", "elements": items})
        else:
            line = section(inline_pieces(node.children))
            if line:
                lines.append(line)
    return lines


def length(elements: Iterable[Element]) -> int:
    """The visible characters of sections, lists or inline elements."""
    return sum(
        length(element["elements"]) if "elements" in element else len(element.get("text", "")) for element in elements
    )


def weight(elements: Iterable[Element]) -> int:
    """What sections, lists or inline elements add to a payload."""
    return sum(
        weight(element["elements"]) + limits.FRAME if "elements" in element else _weight(element)
        for element in elements
    )


def cut(lines: Sequence[Element], most: int) -> list[Element]:
    """The beginning of a body, at most `most` characters, ended at a pause with `…`; never inside code or a link."""
    kept: list[Element] = []
    room = most
    for line in lines:
        size = length([line])
        if size <= room:
            kept.append(line)
            room -= size
            continue
        if line["type"] == "rich_text_list":
            items: list[Element] = []
            for item in line["elements"]:
                room -= length([item])
                if room < 0:
                    break
                items.append(item)
            if items:
                kept.append({**line, "elements": items})
        else:
            run = _Run.of(line["elements"])
            begin = run.before(best_pause(run.text, room, barriers=run.barriers))
            if begin:
                kept.append({**line, "elements": begin})
        break
    return _with_ellipsis(kept)


def _with_ellipsis(lines: list[Element]) -> list[Element]:
    if not lines:
        return [{"type": "rich_text_section", "elements": [text_piece("…")]}]
    last = lines[-1]
    if last["type"] == "rich_text_list":
        return [*lines[:-1], {**last, "elements": _with_ellipsis(last["elements"])}]
    elements = list(last["elements"])
    if elements[-1]["type"] == "text" and "style" not in elements[-1]:
        elements[-1] = text_piece(elements[-1]["text"].rstrip(_TRAILING) + "…")
    else:
        elements.append(text_piece("…"))
    return [*lines[:-1], {**last, "elements": elements}]


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much a part may hold: characters read aloud, and weight in the payload."""

    text: int
    payload: int


def split(lines: Sequence[Element], first: Room, later: Room) -> tuple[list[Element], ...]:
    """The lines in parts that fit. Nothing is dropped; code and links stay whole unless one alone is too long."""
    if _surely_fits(lines, first):
        return (list(lines),)
    filling = _Filling(first, later)
    for line in lines:
        if line["type"] != "rich_text_list":
            filling.add(line, None)
            continue
        offset = line.get("offset", 0)
        for number, item in enumerate(line["elements"], start=offset):
            filling.add(item, number)
    return filling.done()


def _surely_fits(lines: Sequence[Element], room: Room) -> bool:
    """Whether not even the worst text of this length could be too long: so for nearly every entry, and quick."""
    characters, others = _bounds(lines)
    return characters * WORST + 8 * len(lines) <= room.text and characters * WORST + others <= room.payload


def _bounds(elements: Iterable[Element]) -> tuple[int, int]:
    """The visible characters, and what else weighs in the payload."""
    characters = others = 0
    for element in elements:
        inner = element.get("elements")
        if inner is not None:
            more, weight = _bounds(inner)
            characters += more
            others += weight + 60
        else:
            characters += len(element.get("text", ""))
            others += len(element.get("url", "")) + 60
    return characters, others


class _Filling:
    """Parts being filled, line by line."""

    def __init__(self, first: Room, later: Room) -> None:
        self._later = later
        self._whole = self._room = first
        self._parts: list[list[Element]] = [[]]

    def add(self, line: Element, number: int | None) -> None:
        """Put a section, or a list's item with its 0-based number, into this part or the next ones."""
        elements = line["elements"]
        run = self._beginning(elements)
        if not self._fits(run) and self._part and self._room.text * 3 < self._whole.text * 2:
            self._turn()
        while not self._fits(run):
            position = run.cut(self._room)
            if position == 0 and self._part:
                self._turn()
                continue
            position = position or run.cut_inside(self._room)
            self._put(run.before(position), number)
            elements = [*run.after(position), *elements[len(run.elements) :]]
            run = self._beginning(elements)
            number = None
            self._turn()
        self._put(run.elements, number)
        self._room = Room(text=self._room.text - run.size - 8, payload=self._room.payload - run.weight - 60)

    def done(self) -> tuple[list[Element], ...]:
        return tuple(part for part in self._parts if part) or ([],)

    def _beginning(self, elements: Sequence[Element]) -> _Run:
        """The elements, or more of them than a part holds: a line of thousands is not read whole for each part."""
        text = max(self._room.text, self._later.text)
        payload = max(self._room.payload, self._later.payload)
        for number, element in enumerate(elements, start=1):
            text -= len(element.get("text", ""))
            payload -= _weight(element)
            if text < 0 or payload < 0:
                return _Run.of(elements[: number + _BEYOND])
        return _Run.of(elements)

    @property
    def _part(self) -> list[Element]:
        return self._parts[-1]

    def _fits(self, run: _Run) -> bool:
        return run.size <= self._room.text and run.weight <= self._room.payload

    def _turn(self) -> None:
        self._parts.append([])
        self._whole = self._room = self._later

    def _put(self, elements: Sequence[Element], number: int | None) -> None:
        if not elements:
            return
        line: Element = {"type": "rich_text_section", "elements": list(elements)}
        if number is None:
            self._part.append(line)
            return
        last = self._part[-1] if self._part else None
        if last and last["type"] == "rich_text_list" and last.get("offset", 0) + len(last["elements"]) == number:
            last["elements"].append(line)
            return
        listed: Element = {"type": "rich_text_list", "style": "ordered", "elements": [line]}
        if number:
            listed["offset"] = number
        self._part.append(listed)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """Inline elements as one string: where it may be cut, and the elements before and after a cut."""

    elements: Sequence[Element]
    text: str
    barriers: tuple[tuple[int, int], ...]
    """Where code and links stand: no cut inside."""
    size: int
    weight: int

    @classmethod
    def of(cls, elements: Sequence[Element]) -> _Run:
        texts, barriers, position, weight = [], [], 0, 0
        for element in elements:
            text = element.get("text", "")
            if element["type"] != "text" or "code" in element.get("style", ()):
                barriers.append((position, position + len(text)))
            texts.append(text)
            position += len(text)
            weight += _weight(element)
        whole = "".join(texts)
        return cls(elements=elements, text=whole, barriers=tuple(barriers), size=limits.measure(whole), weight=weight)

    def cut(self, room: Room) -> int:
        """The best place to end what fits in `room`; 0 if nothing does without cutting code or a link."""
        return best_cut(self.text, self._ceiling(room), barriers=self.barriers)

    def cut_inside(self, room: Room) -> int:
        """A place inside the first code or link, which alone is longer than the room; at least one character."""
        most = max(1, self._ceiling(room))
        # A single sign with more marks than the room is cut among them: one piece a mark would be a flood.
        return best_cut(self.text, most, barriers=()) or most

    def _ceiling(self, room: Room) -> int:
        most = ceiling(self.text, room.text)
        position, payload = 0, room.payload
        for element in self.elements:
            text = element.get("text", "")
            weight = _weight(element)
            if weight > payload:
                beside = weight - limits.measure(text)
                return min(most, position + (ceiling(text, payload - beside) if payload > beside else 0))
            payload -= weight
            position += len(text)
        return most

    def before(self, position: int) -> list[Element]:
        return self._between(0, position)

    def after(self, position: int) -> list[Element]:
        return self._between(position, len(self.text))

    def _between(self, start: int, end: int) -> list[Element]:
        found: list[Element] = []
        position = 0
        for element in self.elements:
            text = element.get("text", "")
            piece = text[max(0, start - position) : max(0, end - position)]
            if piece:
                found.append(element if piece == text else {**element, "text": piece})
            position += len(text)
        return found


def _weight(element: Element) -> int:
    return limits.weight(element.get("text", "")) + len(element.get("url", ""))
