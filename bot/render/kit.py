"""What every message needs: words in the channel's language, templates, parsed texts, and the last check."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from bot.model import Entry, Json, Message
from bot.render import checks, limits
from bot.render.pieces import Element, bold, clean, inline, link, merged, text_piece
from bot.render.rich_text import body_pieces, inline_pieces
from bot.render.split import shorten
from bot.render.spoken import spoken
from bot.render.templates import Templates
from bot.render.views import RootLine, Style
from bot.render.words import Words
from bot.text.spans import parse, parse_inline
from bot.text.vocabulary import Vocabulary

_MARKS: Final = frozenset("`#/[*~:")
"""A title without any of these is plain text: code is shown only for back-ticks, links need a `#`, `/` or `:`."""
_REPO: Final = 100
"""Characters of a repository's short name at most; GitHub allows as many."""
_WORST: Final = 5
"""The measure of the worst character, `&`."""
OPTION_WIDTH: Final = limits.OPTION_TEXT


class Kit:
    """Templates and words for one style. Immutable, so one serves all threads."""

    def __init__(self, *, style: Style, words: Words, templates: Templates, vocabulary: Vocabulary) -> None:
        self.style = style
        self.words = words
        self._templates = templates
        self._vocabulary = vocabulary

    # --- texts ---

    def title(self, title: str, *, repo: str | None = None) -> list[Element]:
        """A title as inline pieces; one that shows nothing becomes words of ours."""
        if limits.is_blank(title):
            return inline(self.words.say("untitled"))
        if _MARKS.isdisjoint(title):
            return [text_piece(title)]
        pieces = inline_pieces(parse_inline(title, repo=repo, vocabulary=self._vocabulary))
        # A bold line with code in it is restless: in a title only what the author put in back-ticks is code.
        return pieces if "`" in title else merged([_without_code(piece) for piece in pieces])

    def short_title(self, title: str, width: int) -> str:
        """A title in one line of plain text, at most `width` in the measure of `limits`."""
        return self.words.say("untitled") if limits.is_blank(title) else shorten(title, width)

    def line_title(self, line: RootLine, width: int) -> list[Element]:
        """A title in a list: plain, whole if it fits, and a link where there is one."""
        return link(self.short_title(line.title, width), line.link)

    def body(self, entry: Entry) -> list[Element]:
        """An entry's text as lines, the verdict bold where it stands."""
        if limits.is_blank(entry.body):
            return []
        return body_pieces(
            parse(
                entry.body,
                repo=entry.repo,
                vocabulary=self._vocabulary,
                emphasis=entry.extraction.verdict_span,
            )
        )

    # --- controls ---

    def options(self, lines: Sequence[tuple[str, int]]) -> list[tuple[str, str]]:
        """(title, entry id) pairs for a menu; one entry once, as a menu's values must differ."""
        unique = {entry_id: title for title, entry_id in lines}
        first = islice(unique.items(), limits.OPTIONS)
        return [(self.short_title(title, OPTION_WIDTH), str(entry_id)) for entry_id, title in first]

    def tagged(self, line: RootLine, width: int, *, tags: bool = True) -> list[Element]:
        """A line of a list: verdict (must-reads bold), then the title."""
        title = self.line_title(line, width)
        if not tags or line.verdict is None:
            return title
        tag = self.words.tag(line.verdict)
        lead = bold(tag) if line.verdict.value == "must_read" else inline(tag)
        return [*lead, *inline(" · "), *title]

    # --- results ---

    def message(
        self,
        template: str,
        values: Mapping[str, Any],
        *,
        mentions: Collection[str] = (),
        names: Mapping[str, str] | None = None,
        aloud: Sequence[Json] | None = None,
    ) -> Message:
        """The template's message, checked. Raises MessageInvalid.

        `aloud` are blocks to read aloud in place of the message's own, where those show only a beginning; `names`
        says how users and channels are read.
        """

        def accept(blocks: tuple[Json, ...]) -> Message:
            checks.check_blocks(blocks, mentions=mentions)
            return Message(text=_text(blocks if aloud is None else aloud, names), blocks=blocks)

        return self._templates.render(template, values, accept)

    def aloud(self, template: str, values: Mapping[str, Any]) -> tuple[Json, ...]:
        """The template's blocks, to be read aloud in place of another message's; only their text is checked."""

        def accept(blocks: tuple[Json, ...]) -> tuple[Json, ...]:
            _text(blocks, None)
            return blocks

        return self._templates.render(template, values, accept)

    def view(
        self,
        template: str,
        values: Mapping[str, Any],
        frame: Mapping[str, Any],
        *,
        mentions: Collection[str] = (),
    ) -> dict[str, Any]:
        """The view `frame` around the template's blocks, checked. Raises MessageInvalid."""

        def accept(blocks: tuple[Json, ...]) -> dict[str, Any]:
            view = {**frame, "blocks": list(blocks)}
            checks.check_view(view, mentions=mentions)
            return view

        return self._templates.render(template, values, accept)


def _text(blocks: Sequence[Json], names: Mapping[str, str] | None) -> str:
    text = limits.escape(clean(spoken(blocks, names=names)))
    checks.check_text(text)
    return text


def _without_code(piece: Element) -> Element:
    style = {name: on for name, on in piece.get("style", {}).items() if name != "code"}
    plain = {key: value for key, value in piece.items() if key != "style"}
    return {**plain, "style": style} if style else plain


def repo_name(repo: str) -> str:
    """The short name of `owner/name`, in one line."""
    name = repo.rsplit("/", 1)[-1] or repo
    return name if len(name) * _WORST <= _REPO else shorten(name, _REPO)
