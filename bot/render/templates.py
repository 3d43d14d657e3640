"""The message templates: the built-in ones, and a team's own beside them.

A template of the team's is refused when it is loaded if it could not be made safe, and passed over for one message
if what it makes is not valid; either way the built-in one takes its place and the fall-back is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

from jinja2 import Template

from bot.errors import MessageInvalid, TemplateError
from bot.model import Json
from bot.render import pieces
from bot.render.budget import BoundedEnvironment, OverBudget, allowance
from bot.render.checks import BlockInvalid
from bot.render.environment import JsonEnvironment, compile_template, render_blocks, trace_lines
from bot.render.guard import check_source

Fallback = Callable[[str, str], None]
"""Called with a template's name and the reason for which the built-in one took its place."""

_Made = TypeVar("_Made")
_SUFFIX: Final = ".json.j2"

_ENTRY: Final = frozenset(
    {
        "title",
        "title_text",
        "body",
        "body_text",
        "tag",
        "verdict",
        "repo",
        "repo_name",
        "url",
        "edition",
        "audience",
        "topics",
        "pull_requests",
        "edited",
        "note",
    }
)
VALUES: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "root": frozenset({"head", "count", "lists", "more", "notes", "carried", "late"}),
        "compact": frozenset({"head", "count", "lists", "more", "notes", "carried", "late", "pick", "options"}),
        "entry": _ENTRY,
        "entry_cut": _ENTRY | {"entry_id", "full", "full_label"},
        "entry_part": frozenset({"head", "body"}),
        "search": frozenset({"head", "hits", "pick", "options", "only", "next", "state"}),
        "nothing": frozenset({"head", "apart", "near", "tip"}),
        "help": frozenset({"head", "note", "examples", "cross", "save"}),
        "list": frozenset({"head", "count", "hits", "more", "pick", "options", "remove"}),
        "sentence": frozenset({"sentence"}),
        "shared": _ENTRY | {"sharer"},
        "modal": frozenset({"title", "body", "more", "facts", "entry_id", "save", "unsave", "share", "thread", "link"}),
        "share": frozenset({"target", "title", "comment"}),
        "search_modal": frozenset({"ask", "hint", "query", "answer"}),
        "home": frozenset(
            {
                "today",
                "today_none",
                "groups",
                "saved",
                "saved_list",
                "saved_none",
                "pick",
                "remove",
                "options",
            }
            | {"ask", "hint", "tip"}
        ),
    }
)
"""The templates, and the values that each may use."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A template of the team's: safe, as far as can be seen beforehand."""

    source: str
    compiled: Template


class Templates:
    """Compiled templates. One serves all threads: all that ever changes is that one of the team's is given up."""

    def __init__(self, folder: Path | None = None, *, on_fallback: Fallback | None = None) -> None:
        """Load all of them. A faulty file of the team's is reported to `on_fallback` and left out."""
        self._environment = JsonEnvironment(pieces.template_functions())
        self._on_fallback = on_fallback
        built_in = files("bot.render").joinpath("templates")
        self._built_in = {
            name: compile_template(
                self._environment, built_in.joinpath(name + _SUFFIX).read_text(encoding="utf-8"), template=name
            )
            for name in VALUES
        }
        self._own: dict[str, _Loaded] = {}
        for name, problem in self._load_own(folder):
            self._report(name, problem)

    def render(self, name: str, values: Mapping[str, Any], accept: Callable[[tuple[Json, ...]], _Made]) -> _Made:
        """What `accept` makes of the template's blocks.

        `accept` raises MessageInvalid for blocks that cannot be used. If the team's template, or what it made, is
        at fault, that is reported with template, line and block, and the built-in one is used; from then on, if it
        was at fault for the work it makes.
        """
        own = self._own.get(name)
        if own is not None:
            try:
                with allowance():
                    return accept(render_blocks(own.compiled, values, template=name))
            except (TemplateError, MessageInvalid) as error:
                if isinstance(error.__cause__, OverBudget):
                    # Its time is other messages' time: once is enough until the templates are read again.
                    self._own.pop(name, None)
                self._report(name, self._explain(name, own, values, error))
        return accept(render_blocks(self._built_in[name], values, template=name))

    @cached_property
    def _bounded(self) -> BoundedEnvironment:
        """The environment of a team's own templates: most teams have none."""
        return BoundedEnvironment(pieces.template_functions())

    def _load(self, name: str, source: str) -> _Loaded:
        check_source(self._bounded, source, template=name, names=VALUES[name])
        return _Loaded(source, compile_template(self._bounded, source, template=name))

    def _load_own(self, folder: Path | None) -> list[tuple[str, str]]:
        if folder is None:
            return []
        if not folder.is_dir():
            return [("templates_dir", f"{folder} is no folder")]
        problems = []
        for path in sorted(folder.glob("*" + _SUFFIX)):
            name = path.name.removesuffix(_SUFFIX)
            if name not in VALUES:
                problems.append((name, f"{path.name}: there is no such template; known are {', '.join(VALUES)}"))
                continue
            try:
                with allowance():
                    self._own[name] = self._load(name, path.read_text(encoding="utf-8"))
            except (TemplateError, OSError, UnicodeDecodeError) as error:
                problems.append((name, str(error)))
        return problems

    def _explain(self, name: str, own: _Loaded, values: Mapping[str, Any], error: Exception) -> str:
        """The fault with its line in the template, found by rendering again with every line marked."""
        if getattr(error, "line", None) is not None:
            return str(error)
        try:
            with allowance():
                trace = trace_lines(self._bounded, own.source, values, template=name)
            line = trace.error_line()
            if line is None and isinstance(error, BlockInvalid):
                line = trace.block_line(error.block)
        except TemplateError:
            line = _line_of(error, name)
        message = str(error).removeprefix(f"{name}: ")
        return f"{name}, line {line}: {message}" if line else f"{name}: {message}"

    def _report(self, name: str, reason: str) -> None:
        if self._on_fallback is not None:
            self._on_fallback(name, reason)


def _line_of(error: BaseException, name: str) -> int | None:
    """The template line at which an expression failed: Jinja maps its frames' lines to the source's."""
    line = None
    cause: BaseException | None = error.__cause__ or error
    while cause is not None:
        frame = cause.__traceback__
        while frame is not None:
            if frame.tb_frame.f_code.co_filename == name:
                line = frame.tb_lineno
            frame = frame.tb_next
        cause = cause.__cause__
    return line
