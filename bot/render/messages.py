"""The renderer: every message and view that leaves the program, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Final

from bot.model import Answer, Entry, Language, Message, Verdict
from bot.render import answers, entries, heads, limits, surfaces
from bot.render.kit import Kit
from bot.render.pieces import Pieces, code
from bot.render.split import shorten, split_text
from bot.render.templates import Fallback, Templates
from bot.render.views import Edited, EditionView, HelpView, HomeView, Place, RootLine, RootView, Style
from bot.render.words import Words
from bot.text.vocabulary import Vocabulary

_NAMED: Final = 75
"""Characters of a title in a line about an entry: as many as in a list."""


class Renderer:
    """Makes messages from values. Safe to share between threads; templates and words are read once.

    Every method raises MessageInvalid where no valid message can be made; with the built-in templates that does
    not happen for any text.
    """

    def __init__(self, *, vocabulary: Vocabulary, on_fallback: Fallback | None = None) -> None:
        """`on_fallback(template, reason)` is told when a team's template could not be used."""
        self._vocabulary = vocabulary
        self._on_fallback = on_fallback
        self._words: dict[Language, Words] = {}
        self._templates: dict[Path | None, Templates] = {}

    # --- in the channel ---

    def root(self, view: RootView, style: Style) -> Message:
        """The head of a slot; `compact` is the layout that needs no other message."""
        return heads.root(self._kit(style), view, template="root")

    def compact(self, view: RootView, style: Style) -> Message:
        """A whole slot in one message: a line an entry and a menu that opens them."""
        return heads.root(self._kit(style), view, template="compact")

    def entry(
        self, entry: Entry, style: Style, *, edited: Edited | None = None, overtaken: bool = False
    ) -> tuple[Message, ...]:
        """An entry's message and, where it is very long, the parts that continue it in its thread.

        `overtaken`: it comes after messages that it should have preceded, and says so.
        """
        return entries.entry(self._kit(style), entry, edited=edited, overtaken=overtaken)

    def empty(self, day: date, style: Style) -> Message:
        """The one line of a slot without anything new."""
        words = self._kit(style).words
        line = words.say("head", name=words.say("name_plain"), day=words.day(day))
        return self._sentence(style, line + words.say("colon") + words.say("empty_slot"))

    def verdict_changed(
        self, old: Verdict | None, new: Verdict | None, style: Style, *, named: RootLine | None = None
    ) -> Message:
        """The line in an entry's thread when its verdict has changed; `named` is the entry, in a thread of several."""
        words = self._kit(style).words
        old_word, new_word = (words.tag(one) if one else words.say("verdict_unknown") for one in (old, new))
        return self._notice(style, named, words.say("verdict_changed", old=old_word, new=new_word))

    def text_changed(self, style: Style, *, named: RootLine | None = None) -> Message:
        """The line in an entry's thread when much of its text has changed; `named`: see `verdict_changed`."""
        return self._notice(style, named, self._kit(style).words.say("text_changed"))

    def text_ended(self, style: Style) -> Message:
        """What stands in place of a continuation when the entry has become shorter."""
        return self._sentence(style, self._kit(style).words.say("text_ended"))

    def shared(
        self, entry: Entry, style: Style, *, user_id: str, user_name: str | None = None, comment: str = ""
    ) -> tuple[Message, ...]:
        """An entry that somebody shares; further parts belong in its thread. `user_name` is read aloud."""
        return entries.shared(self._kit(style), entry, user_id=user_id, user_name=user_name, comment=comment)

    def alert(self, text: str, style: Style | None = None) -> Message:
        """A plain message of ours; what does not fit is cut."""
        if limits.is_blank(text):
            text = "…"
        first, *rest = split_text(text, limits.TEXT - 1)
        return self._sentence(style or Style(), first + "…" if rest else first)

    # --- to one reader ---

    def search(
        self,
        answer: Answer,
        style: Style,
        *,
        places: Mapping[int, Place] | None = None,
        today: date | None = None,
    ) -> Message:
        """One page of hits, or what to try where nothing was found. `places` by entry id, for this reader.

        With `today` (the reader's local day), a date of another year shows its year.
        """
        return answers.search(self._kit(style), answer, places or {}, today=today)

    def nothing(self, answer: Answer, style: Style) -> Message:
        """Nothing found."""
        return answers.nothing(self._kit(style), answer)

    def help(self, view: HelpView, style: Style) -> Message:
        """The query language by examples."""
        return answers.help_message(self._kit(style), view)

    def edition(self, view: EditionView, style: Style) -> Message:
        """The entries of one day."""
        return answers.edition(self._kit(style), view)

    def saved(self, lines: Sequence[RootLine], style: Style, *, total: int = 0) -> Message:
        """What the reader has saved; `total` where `lines` are not all."""
        return answers.saved(self._kit(style), lines, total=total)

    def sentence(self, key: str, style: Style, **values: Pieces) -> Message:
        """One of our sentences (`sentence.<key>` of the strings), such as `busy`, `saved`, `entry_gone`.

        A value is shown literally; `help` is filled in. Raises KeyError for an unknown key or a missing value.
        """
        words = self._kit(style).words
        cut = {
            name: shorten(value, limits.URL // 2) if isinstance(value, str) else value for name, value in values.items()
        }
        known: dict[str, Pieces] = {"help": code(words.say("help_command")), **cut}
        return self._sentence(style, words.pieces(f"sentence.{key}", **known))

    def no_value(self, written: str, kind: str, style: Style) -> Message:
        """A qualifier without a value, as `written`, with an example; `kind` is its plain name, such as `repo`."""
        example = code(written + self._kit(style).words.say(f"value.{kind}"))
        return self.sentence("no_value", style, word=code(written), example=example)

    # --- views ---

    def modal(
        self,
        entry: Entry,
        style: Style,
        *,
        saved: bool,
        thread_link: str | None = None,
        share_to: str | None = None,
        **state: object,
    ) -> dict[str, Any]:
        """An entry opened whole. `private_metadata` carries `entry`, `channel` (= `share_to`) and `state`."""
        return surfaces.modal(
            self._kit(style), entry, saved=saved, thread_link=thread_link, share_to=share_to, state=state
        )

    def share_form(self, entry: Entry, style: Style, *, channel_id: str, **state: object) -> dict[str, Any]:
        """The form before an entry is shared: the comment is in block `share`, input `share_comment`."""
        return surfaces.share_form(self._kit(style), entry, channel_id=channel_id, state=state)

    def search_modal(
        self,
        style: Style,
        *,
        query: str = "",
        answer: Message | None = None,
        example: str = "rocm 构建",
        **state: object,
    ) -> dict[str, Any]:
        """The search field of the global shortcut, with the answer that `search` made for it."""
        return surfaces.search_modal(self._kit(style), query=query, answer=answer, example=example, state=state)

    def home(self, view: HomeView, style: Style) -> dict[str, Any]:
        """The Home tab of one reader."""
        return surfaces.home(self._kit(style), view)

    # --- inside ---

    def _sentence(self, style: Style, pieces: Pieces) -> Message:
        return self._kit(style).message("sentence", {"sentence": pieces})

    def _notice(self, style: Style, named: RootLine | None, notice: str) -> Message:
        if named is None:
            return self._sentence(style, notice)
        kit = self._kit(style)
        return self._sentence(style, [*kit.line_title(named, _NAMED), " · ", notice])

    def forget_templates(self) -> None:
        """Read the teams' templates anew when they are next needed."""
        self._templates = {}

    def _kit(self, style: Style) -> Kit:
        words = self._words.get(style.language)
        if words is None:
            words = self._words[style.language] = Words(style.language)
        templates = self._templates.get(style.templates_dir)
        if templates is None:
            templates = Templates(style.templates_dir, on_fallback=self._on_fallback)
            self._templates[style.templates_dir] = templates
        return Kit(style=style, words=words, templates=templates, vocabulary=self._vocabulary)
