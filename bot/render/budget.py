"""A team's template is a small program of its author's: here it gets a budget of work, and ends when that is used up.

Whatever could take long passes through the environment: a step of a loop, a call, a filter, an operator, a list
that is written out, and what comes out in the end. Each is charged for, before it is done where it makes much of
little. So no value outgrows the budget, and nothing done with a value takes long. What cannot be charged for is not
offered.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any, Final

from jinja2 import nodes
from jinja2.exceptions import SecurityError, TemplateRuntimeError
from jinja2.runtime import Context, LoopContext, Undefined
from jinja2.visitor import NodeTransformer

from bot.render.environment import JsonEnvironment, serialise
from bot.render.pieces import USES

_BUDGET: Final = 500_000
"""Elements that one rendering may make. The largest view has some thousands."""
_STEP: Final = 25
"""What a step of a loop, a call or an operator costs beside what it makes."""
_CHARACTERS: Final = 16
"""So many characters, or bits of a number, cost as much as one element."""
_SECONDS: Final = 1.0
"""What a rendering may take of the processor's time: for small steps that look at something large."""

_FILTERS: Final = (
    "abs attr capitalize count d default dictsort first float groupby int items join last length list lower map max min"
    " reject rejectattr replace reverse select selectattr sort title trim truncate unique upper urlencode wordcount"
)
"""The filters that make no more than they are given; `join` and `replace` are charged for beforehand."""
_METHODS: Final[Mapping[type, str]] = {
    str: (
        "capitalize casefold count endswith find index isalnum isalpha isdigit islower isspace isupper join lower"
        " lstrip partition removeprefix removesuffix replace rfind rindex rpartition rsplit rstrip split splitlines"
        " startswith strip swapcase title upper"
    ),
    list: "count index",
    tuple: "count index",
    dict: "get items keys values",
}
"""The same for methods."""
_TEXTS: Final = (str, bytes)
_LISTS: Final = (list, tuple)
_FAULTS: Final = (TypeError, AttributeError, ValueError, LookupError, OverflowError)
"""How Python takes it when something is not what was wanted."""


class OverBudget(TemplateRuntimeError):
    """A template wants to make more, or to take longer, than any message needs."""


class _Account(threading.local):
    """What is left to the rendering that is under way on this thread."""

    left: float = 0.0
    until: float = 0.0


_account: Final = _Account()


@contextmanager
def allowance() -> Iterator[None]:
    """Give what is compiled or rendered within a whole budget."""
    before = _account.left, _account.until
    _account.left, _account.until = _BUDGET, time.thread_time() + _SECONDS
    try:
        yield
    finally:
        _account.left, _account.until = before


def charge(amount: float) -> None:
    """Take from the budget; raise OverBudget where it is used up."""
    _account.left -= amount
    if _account.left < 0:
        raise OverBudget("makes more than a message can hold: loop over less, and do not multiply texts and lists")


def step() -> bool:
    """Charge for a step of a loop; True, so that it can stand in a condition."""
    charge(_STEP)
    # The thread's own time: that the machine is held up is no fault of the template's.
    if time.thread_time() > _account.until:
        raise OverBudget(f"takes longer than {_SECONDS:g} s: loop over less")
    return True


def sized(value: Any) -> Any:
    """Charge for all that `value` holds, and return it; what is made one by one is made here, as a list."""
    if isinstance(value, Iterator):
        return [sized(one) for one in value if step()]
    charge(_weight(value))
    return value


def _weight(value: Any) -> float:
    """What a value costs. Raises OverBudget as soon as that is more than is left."""
    weight, waiting = 0.0, [value]
    while waiting:
        one = waiting.pop()
        weight += 1
        if isinstance(one, _TEXTS):
            weight += len(one) / _CHARACTERS
        elif isinstance(one, dict):
            waiting.extend(one.values())
        elif isinstance(one, _LISTS):
            waiting.extend(one)
        elif isinstance(one, range):
            weight += len(one)
        elif isinstance(one, int):
            weight += one.bit_length() / _CHARACTERS
        if weight > _account.left:
            charge(weight)
    return weight


def joined(*pieces: Any) -> str:
    """`~`: the pieces as one text."""
    sized(pieces)
    return "".join(map(str, pieces))


class BoundedEnvironment(JsonEnvironment):
    """A JsonEnvironment whose templates are charged for what they do: compile and render within an `allowance`."""

    intercepted_binops = frozenset(("+", "*", "%"))

    def __init__(self, functions: Mapping[str, Callable[..., Any]]) -> None:
        super().__init__(functions)
        self.finalize = _written
        self.filters = {name: _charged(name, self.filters[name]) for name in _FILTERS.split()}
        self._meters: frozenset[Callable[..., Any]] = frozenset((step, sized, joined))
        self._callable = self._trusted | {self.globals["range"]}

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call `obj` for a template, if what that makes can be charged for."""
        if isinstance(obj, FunctionType) and obj in self._meters:
            return obj(*args)
        charge(_STEP)
        if isinstance(obj, BuiltinMethodType):
            _charge_method(obj, args)
        elif not (isinstance(obj, Undefined) or self._may_call(obj)):
            raise SecurityError(_NO_CALL.format(getattr(obj, "__name__", _kind(obj))))
        try:
            return sized(super().call(context, obj, *args, **kwargs))
        except _FAULTS as error:
            name = getattr(obj, "__name__", "").removeprefix("safe_")  # as Jinja calls its range
            raise _misuse(f"{name}()", args, USES.get(name, "")) from error

    def _may_call(self, obj: Any) -> bool:
        if isinstance(obj, MethodType):
            return isinstance(obj.__self__, LoopContext)
        return isinstance(obj, FunctionType) and obj in self._callable

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Do `left operator right`, if what that makes can be charged for."""
        charge(_STEP)
        if operator == "%" and isinstance(left, _TEXTS):
            raise SecurityError("% on a text is refused: join texts with ~")
        if operator == "*":
            _charge_product(left, right)
        try:
            return sized(super().call_binop(context, operator, left, right))
        except _FAULTS as error:
            raise _misuse(operator, (left, right), "join texts with ~") from error

    def _generate(self, source: nodes.Template, *args: Any, **kwargs: Any) -> str:
        charged = _Charging().visit(source)
        charged.set_environment(self)
        return super()._generate(charged, *args, **kwargs)


_NO_CALL: Final = "{} cannot be called here: use the functions that the README names, and join texts with ~"


def _written(value: object) -> str:
    text = serialise(value)
    charge(len(text) / _CHARACTERS)
    return text


def _charge_product(left: Any, right: Any) -> None:
    for many, times in ((left, right), (right, left)):
        if isinstance(many, (*_TEXTS, *_LISTS)) and isinstance(times, int):
            charge(_weight(many) * max(0, times))
            return
    charge(_weight(left) + _weight(right))


def _charge_method(method: BuiltinMethodType, args: Sequence[Any]) -> None:
    owner, name = method.__self__, method.__name__
    if name not in _METHODS.get(type(owner), "").split():
        raise SecurityError(_NO_CALL.format(name))
    if name == "join":
        _charge_join(*args, owner)
    elif name == "replace":
        _charge_replace(owner, *args)


def _charge_join(value: Any, d: Any = "", *_: Any, **__: Any) -> None:
    if isinstance(value, (str, range, *_LISTS)):
        charge(len(value) * _weight(d))
    sized(value)


def _charge_replace(s: Any, old: Any = "", new: Any = "", *_: Any, **__: Any) -> None:
    charge(str(s).count(str(old)) * _weight(new))


_BEFORE: Final[Mapping[str, Callable[..., None]]] = {"join": _charge_join, "replace": _charge_replace}
"""By filter; the arguments have the names that the filter's have."""


def _charged(name: str, apply: Callable[..., Any]) -> Callable[..., Any]:
    """The filter `apply`, charged for. What it wants from Jinja, such as the context, it gets as before."""
    own = 1 if hasattr(apply, "jinja_pass_arg") else 0
    before = _BEFORE.get(name)

    @functools.wraps(apply)
    def charged(*args: Any, **kwargs: Any) -> Any:
        charge(_STEP)
        if before is not None:
            before(*args[own:], **kwargs)
        try:
            return sized(apply(*args, **kwargs))
        except _FAULTS as error:
            raise _misuse(f"|{name}", args[own:]) from error

    return charged


_KINDS: Final[Mapping[type, str]] = {
    str: "a text",
    list: "a list",
    tuple: "a list",
    dict: "an object",
    int: "a number",
    bool: "yes or no",
    type(None): "nothing",
}


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), type(value).__name__)


def _misuse(what: str, given: Sequence[Any], advice: str = "") -> TemplateRuntimeError:
    """A fault in the words of a template's author: Python's speak of what the author never sees."""
    reason = f"{what} cannot use what it is given here ({', '.join(map(_kind, given)) or 'nothing'})"
    return TemplateRuntimeError(f"{reason}: {advice}" if advice else reason)


class _Charging(NodeTransformer):
    """Puts the charges into a template where Jinja asks the environment nothing."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - Jinja's names
        self.generic_visit(node)
        node.body.insert(0, nodes.ExprStmt(_call("step", node), lineno=node.lineno))
        if node.test is not None:
            node.test = nodes.And(_call("step", node), node.test, lineno=node.lineno)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _call("joined", node, *node.nodes)

    def visit_List(self, node: nodes.List) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _call("sized", node, node)

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _call("sized", node, node) if node.ctx == "load" else node

    def visit_Dict(self, node: nodes.Dict) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _call("sized", node, node)


def _call(name: str, at: nodes.Node, *given: nodes.Expr) -> nodes.Call:
    function = nodes.ImportedName(f"{__name__}.{name}", lineno=at.lineno)
    return nodes.Call(function, list(given), [], None, None, lineno=at.lineno)
