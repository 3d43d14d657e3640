"""What a template may not do, found when it is loaded: each refusal names line and advice.

A template writes JSON in which every expression is serialised by the environment. That is safe as long as an
expression stands where a JSON value stands, and as long as no construct turns rendered text back into a value.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from typing import Final

from jinja2 import Environment, TemplateSyntaxError, nodes

from bot.errors import TemplateError

_REFUSED_STATEMENTS: Final[tuple[tuple[type[nodes.Node], str], ...]] = (
    (
        nodes.Macro,
        "a macro returns text, which would be quoted as one string: write the blocks where they stand",
    ),
    (nodes.CallBlock, "{% call %} returns text, which would be quoted as one string: write the blocks out"),
    (nodes.FilterBlock, "{% filter %} works on rendered JSON: apply the filter to the value instead"),
    (nodes.AssignBlock, "{% set %} with a body stores rendered JSON as text: use {% set name = value %}"),
    (nodes.ScopedEvalContextModifier, "{% autoescape %} is for HTML: values are serialised as JSON already"),
    (nodes.EvalContextModifier, "{% autoescape %} is for HTML: values are serialised as JSON already"),
    (nodes.Include, "{% include %} takes text from another file: copy what you need into this one"),
    (nodes.Import, "{% import %} brings macros, which return text: write the blocks where they stand"),
    (nodes.FromImport, "{% from %} brings macros, which return text: write the blocks where they stand"),
    (
        nodes.Extends,
        "{% extends %} takes text from another file: copy the built-in template and change the copy",
    ),
    (nodes.Block, "{% block %} is only of use with {% extends %}: write the blocks where they stand"),
    (nodes.MarkSafe, "text cannot be marked safe: every value is serialised as JSON"),
    (nodes.MarkSafeIfAutoescape, "text cannot be marked safe: every value is serialised as JSON"),
)
_REFUSED_FILTERS: Final = {
    "safe": "|safe has no meaning here: every value is serialised as JSON; leave the filter out",
    "tojson": "|tojson would serialise the value twice: leave the filter out",
    "e": "|e is for HTML, readers would see &lt;: leave the filter out",
    "escape": "|escape is for HTML, readers would see &lt;: leave the filter out",
    "forceescape": "|forceescape is for HTML, readers would see &lt;: leave the filter out",
    "xmlattr": "|xmlattr is for HTML: write the JSON keys out",
    "urlize": "|urlize makes HTML: use link(text, url)",
    "pprint": "|pprint makes Python text: use the value itself",
    "string": "|string turns pieces into Python text: use the value itself",
}
_REFUSED_NAMES: Final = {
    "self": "self.…() returns rendered text: write the blocks where they stand",
    "super": "super() returns rendered text: write the blocks where they stand",
    "caller": "caller() returns rendered text: write the blocks where they stand",
}


def check_source(environment: Environment, source: str, *, template: str, names: Collection[str]) -> None:
    """Return if `source` is safe to render with the values `names`; raise TemplateError with the line if not."""
    try:
        _check(environment, source, template, names)
    except RecursionError as error:
        raise TemplateError(f"{template}: is nested too deeply: write it with fewer levels") from error


def _check(environment: Environment, source: str, template: str, names: Collection[str]) -> None:
    if "\x00" in source:
        line = source[: source.index("\x00")].count("\n") + 1
        raise TemplateError(f"{template}, line {line}: a NUL character, which no message can hold")
    try:
        tree = environment.parse(source, template)
    except TemplateSyntaxError as error:
        raise TemplateError(f"{template}, line {error.lineno}: {error.message}") from error
    _check_nodes(tree, template)
    _check_filters(tree, template, environment.filters)
    _check_names(tree, template, {*names, *environment.globals})
    _Strings(template).walk(tree.body)


def _refuse(template: str, node: nodes.Node, advice: str) -> TemplateError:
    return TemplateError(f"{template}, line {node.lineno}: {advice}")


def _check_nodes(tree: nodes.Template, template: str) -> None:
    for kind, advice in _REFUSED_STATEMENTS:
        for node in tree.find_all(kind):
            raise _refuse(template, node, advice)
    _check_expressions(tree, template)
    _check_markup(tree, template)


def _check_expressions(tree: nodes.Template, template: str) -> None:
    for applied in tree.find_all(nodes.Filter):
        if applied.name in _REFUSED_FILTERS:
            raise _refuse(template, applied, _REFUSED_FILTERS[applied.name])
    for loop in tree.find_all(nodes.For):
        if loop.recursive:
            raise _refuse(template, loop, "a recursive loop returns text: write the inner loop out")
    for name in tree.find_all(nodes.Name):
        if name.name in _REFUSED_NAMES:
            raise _refuse(template, name, _REFUSED_NAMES[name.name])
    for operation in tree.find_all(nodes.Pow):
        raise _refuse(template, operation, "** can take for ever: a message needs no powers")


def _check_markup(tree: nodes.Template, template: str) -> None:
    for data in tree.find_all(nodes.TemplateData):
        for markup in ('"mrkdwn"', '"markdown"'):
            if markup in data.data:
                raise TemplateError(
                    f"{template}, line {data.lineno + data.data[: data.data.index(markup)].count(chr(10))}: "
                    f"{markup} lets a digest's characters become links and mentions: use rich_text(...)"
                )


def _check_filters(tree: nodes.Template, template: str, known: Collection[str]) -> None:
    for applied in tree.find_all(nodes.Filter):
        if applied.name not in known:
            advice = _nearest(applied.name, known)
            raise _refuse(template, applied, f"|{applied.name} is not for templates; {advice}")


def _check_names(tree: nodes.Template, template: str, known: set[str]) -> None:
    stored = {name.name for name in tree.find_all(nodes.Name) if name.ctx in ("store", "param")} | {"loop"}
    for name in tree.find_all(nodes.Name):
        if name.ctx == "load" and name.name not in known and name.name not in stored:
            raise _refuse(template, name, f"{name.name} is not defined; {_nearest(name.name, known)}")


def _nearest(word: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(known))}"


class _Strings:
    """Follows the literal JSON through a template and refuses whatever stands inside a JSON string."""

    def __init__(self, template: str) -> None:
        self._template = template
        self._open_line: int | None = None

    def walk(self, body: Iterable[nodes.Node]) -> None:
        """Raise TemplateError where a string is open at an expression, or at the edge of a statement."""
        for node in body:
            if isinstance(node, nodes.Output):
                self._output(node)
                continue
            self._demand_closed(node, "a statement stands inside a JSON string: put {% if %} around the whole value")
            for branch in ("body", "elif_", "else_"):
                inner = getattr(node, branch, None)
                if inner:
                    self.walk(inner)
                    self._demand_closed(node, "a JSON string begins here and ends outside of the statement")
        if self._open_line is not None:
            raise TemplateError(f"{self._template}, line {self._open_line}: this JSON string does not end")

    def _output(self, node: nodes.Output) -> None:
        for child in node.nodes:
            if isinstance(child, nodes.TemplateData):
                self._read(child)
            else:
                self._demand_closed(
                    child,
                    "an expression stands inside a JSON string: leave the quotes out, they come with the value "
                    '({{ title }}, not "{{ title }}"), and join texts with ~',
                )

    def _read(self, data: nodes.TemplateData) -> None:
        line, escaped = data.lineno, False
        for character in data.data:
            if character == "\n":
                line += 1
            if self._open_line is None:
                if character == '"':
                    self._open_line = line
            elif escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                self._open_line = None

    def _demand_closed(self, node: nodes.Node, advice: str) -> None:
        if self._open_line is not None:
            raise _refuse(self._template, node, advice)
