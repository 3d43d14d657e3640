"""The Jinja environment in which a template cannot produce a broken message.

Templates write JSON: the list of a message's blocks. Every expression is serialised by the environment itself, so
that no value can break out of its place; names that are not there are errors; the sandbox keeps templates from
the program around them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, Final, cast

from jinja2 import StrictUndefined, Template, TemplateSyntaxError, nodes
from jinja2 import TemplateError as JinjaError
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from bot.errors import TemplateError
from bot.model import Json
from bot.render.pieces import clean

# A value that holds itself ends in RecursionError, which is a fault of the template like others.
_encode: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
).encode
_MARK: Final = "\x00"
"""Stands before a line number in a traced template; JSON text never has it raw, and a source with it is refused."""


def serialise(value: object) -> str:
    """A value as JSON. Raises TypeError or ValueError for what JSON cannot say; an undefined name raises itself."""
    if value is None:
        return "null"
    if isinstance(value, Undefined):
        return str(value)
    return _encode(value)


class JsonEnvironment(ImmutableSandboxedEnvironment):
    """A sandboxed environment whose every expression comes out as JSON."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]]) -> None:
        super().__init__(
            undefined=StrictUndefined,
            finalize=serialise,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
            cache_size=0,
        )
        self.globals = {"range": self.globals["range"], **functions}
        self._trusted = frozenset(functions.values())

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call `obj` for a template. Our own functions skip the sandbox's questions, which cost more than they do."""
        if isinstance(obj, FunctionType) and obj in self._trusted:
            # What Jinja adds for functions that want the context; none of ours does.
            kwargs.pop("_loop_vars", None)
            kwargs.pop("_block_vars", None)
            return obj(*args, **kwargs)
        return super().call(context, obj, *args, **kwargs)


def compile_template(environment: JsonEnvironment, source: str, *, template: str) -> Template:
    """The compiled template. Its safety is `guard.check_source`'s to judge, before.

    Raises TemplateError for what Jinja or Python cannot compile.
    """
    try:
        code = environment.compile(source, template, template)
    except TemplateSyntaxError as error:
        raise TemplateError(f"{template}, line {error.lineno}: {error.message}") from error
    except (SyntaxError, RecursionError, MemoryError) as error:  # what Python's own compiler says to deep nesting
        raise TemplateError(f"{template}: is nested too deeply: write it with fewer levels") from error
    # A dict of its own in place of Jinja's chain of two, which every rendering would flatten anew.
    return Template.from_code(environment, code, dict(environment.globals))


def render_blocks(compiled: Template, values: Mapping[str, object], *, template: str) -> tuple[Json, ...]:
    """The blocks a template makes of the values. Raises TemplateError, without a line (see `find_line`)."""
    output = run_template(compiled, values, template=template)
    try:
        blocks = json.loads(output)
    except (ValueError, RecursionError) as error:  # brackets without end are no JSON of ours either
        raise TemplateError(f"{template}: does not write JSON ({error})") from error
    return as_blocks(blocks, template=template)


def run_template(compiled: Template, values: Mapping[str, object], *, template: str) -> str:
    """The text a template writes. Raises TemplateError for whatever goes wrong inside it."""
    try:
        return clean(compiled.render(values))
    except SecurityError as error:
        raise TemplateError(f"{template}: the sandbox refuses this ({error})") from error
    except JinjaError as error:
        raise TemplateError(f"{template}: {error}") from error
    except (
        TypeError,
        ValueError,
        ArithmeticError,
        LookupError,
        NameError,
        AttributeError,
        RecursionError,
    ) as error:
        # A template is a small program of its author's; its mistakes come out as Python's errors.
        raise TemplateError(f"{template}: {type(error).__name__}: {error}") from error


def as_blocks(value: object, *, template: str) -> tuple[Json, ...]:
    """The blocks in what a template wrote: a list, without the places that a function left empty (`null`)."""
    if not isinstance(value, list):
        raise TemplateError(f"{template}: wants a JSON list of blocks, [ ... ]")
    for block in value:
        if block is not None and not isinstance(block, dict):
            raise TemplateError(f"{template}: {str(block)[:60]!r} is no block")
    return tuple(cast("Json", block) for block in value if block is not None)


def trace_lines(environment: JsonEnvironment, source: str, values: Mapping[str, object], *, template: str) -> Trace:
    """Render again, slowly, so that every character of the output knows its line in the source."""
    tree = environment.parse(source, template)
    for output in tree.find_all(nodes.Output):
        traced: list[nodes.Expr] = []
        for child in output.nodes:
            line = child.lineno
            pieces = child.data.split("\n") if isinstance(child, nodes.TemplateData) else None
            if pieces is None:
                traced += [_mark(line), child]
                continue
            for number, piece in enumerate(pieces):
                ending = "\n" if number + 1 < len(pieces) else ""
                traced += [_mark(line + number), nodes.TemplateData(piece + ending, lineno=line + number)]
        output.nodes = traced
    code = environment.compile(tree, template, template)
    compiled = Template.from_code(environment, code, environment.make_globals(None))
    return Trace.read(run_template(compiled, values, template=template))


def _mark(line: int) -> nodes.TemplateData:
    return nodes.TemplateData(f"{_MARK}{line}{_MARK}", lineno=line)


class Trace:
    """A template's output, and the source line of every character of it."""

    def __init__(self, output: str, starts: Sequence[tuple[int, int]]) -> None:
        self.output = output
        self._starts = starts

    @classmethod
    def read(cls, marked: str) -> Trace:
        """From an output with marks: text, mark, line, mark, text, ..."""
        pieces = marked.split(_MARK)
        output, starts, length = [pieces[0]], [], len(pieces[0])
        for line, text in zip(pieces[1::2], pieces[2::2], strict=True):
            starts.append((length, int(line)))
            output.append(text)
            length += len(text)
        return cls("".join(output), starts)

    def line_at(self, offset: int) -> int:
        """The 1-based source line that wrote the character at `offset`."""
        line = 1
        for start, number in self._starts:
            if start > offset:
                break
            line = number
        return line

    def error_line(self) -> int | None:
        """The source line at which the output stops being JSON; None if it is JSON."""
        try:
            json.loads(self.output)
        except json.JSONDecodeError as error:
            return self.line_at(max(0, min(error.pos, len(self.output) - 1)))
        except RecursionError:
            return None
        return None

    def block_line(self, number: int) -> int:
        """The source line that begins the 1-based block `number`, empty places not counted."""
        decoder = json.JSONDecoder()
        position, seen = self.output.index("[") + 1, 0
        while True:
            while position < len(self.output) and self.output[position] in " \t\r\n,":
                position += 1
            if position >= len(self.output) or self.output[position] == "]":
                return self.line_at(position - 1)
            value, end = decoder.raw_decode(self.output, position)
            seen += value is not None
            if seen == number:
                return self.line_at(position)
            position = end
