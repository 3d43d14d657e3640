"""What a reader sees of a piece of HTML, read back from the HTML itself so that it cannot drift from it."""

from __future__ import annotations

from html.parser import HTMLParser

_LINES = frozenset(
    {"blockquote", "button", "details", "div", "fieldset", "h3", "h4", "hr", "input", "legend", "li", "ol"}
    | {"option", "pre", "select", "summary", "table", "textarea", "tr", "ul"}
)
_LONE = frozenset({"br", "hr", "input"})


class _Reader(HTMLParser):
    """Collects characters; the edge of a block-like element is one line break, however many edges meet."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._edge = False
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        # A closed menu shows the chosen option or the placeholder and nothing else.
        hidden = (tag == "option" and "selected" not in given) or given.get("role") == "menu"
        if self._unseen or hidden:
            self._unseen += tag not in _LONE
            return
        if tag == "br":
            self._write("\n")
        elif tag in _LINES:
            self._edge = bool(self.parts)
        if tag in ("input", "textarea"):
            shown = given.get("value") if given.get("type") not in ("checkbox", "radio") else ""
            self._write(shown or given.get("placeholder") or "")

    def handle_endtag(self, tag: str) -> None:
        if self._unseen:
            self._unseen -= 1
        elif tag in _LINES:
            self._edge = bool(self.parts)

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self._write(data)

    def _write(self, characters: str) -> None:
        if not characters:
            return
        if self._edge:
            self.parts.append("\n")
            self._edge = False
        self.parts.append(characters)


def characters_of(html: str) -> str:
    """Return the visible characters of HTML that this package wrote."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return "".join(reader.parts)
