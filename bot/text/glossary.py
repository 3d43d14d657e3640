"""Words that mean the same to whoever searches, in Chinese and English.

A glossary widens queries only, never stored text, so it may change at any time. Each line is a list of forms:

- `显存, gpu memory, vram`: typing any of them finds all of them;
- `微调 > LoRA, QLoRA`: typing the left finds the right too, not the reverse;
- `显存 & 泄漏`: a form of two words that need not be adjacent. A form of several words without `&` is a phrase.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from itertools import combinations

import yaml

from bot.model import Phrase
from bot.text.normalise import fold
from bot.text.tokens import joined, phrase, pieces

Form = tuple[Phrase, ...]
"""One way of saying something: phrases that must all be there."""


class FaultKind(StrEnum):
    """What is wrong with a line."""

    EMPTY = "empty"
    """A form has no letter or digit in it, or the line has fewer than two forms."""
    REPEATED = "repeated"
    """A form stands twice in one line (perhaps in two spellings that search alike)."""
    SHADOWED = "shadowed"
    """Another line says all of this already."""
    OVERLAP = "overlap"
    """A form stands in two lines of equals: it finds both, their other forms do not find one another."""
    CONTRADICTION = "contradiction"
    """`a > b` says that b must not find a, and another line says that it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GlossaryFault:
    """A line that cannot mean what it says."""

    kind: FaultKind
    line: str
    other: str | None = None
    """The line it disagrees with."""
    form: str | None = None
    """The form in question, as written."""

    def __str__(self) -> str:
        form = f"“{self.form}”"
        said = {
            FaultKind.EMPTY: f"{form} has nothing to search for, or stands alone",
            FaultKind.REPEATED: f"{form} stands there twice",
            FaultKind.SHADOWED: f"another line says all of it already: {self.other}",
            FaultKind.OVERLAP: f"{form} also stands in: {self.other}; make one line of the two",
            FaultKind.CONTRADICTION: f"{form} must not find the left side, but by this line it does: {self.other}",
        }
        return f"{self.line.strip()}: {said[self.kind]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    text: str
    left: Mapping[Form, str]
    right: Mapping[Form, str]
    """Empty for a line of equals."""
    repeated: tuple[str, ...]
    empty: tuple[str, ...]

    @property
    def equal(self) -> bool:
        return ">" not in self.text


class Glossary:
    """Lines of forms, ready to widen a query. Never changes once built."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = tuple(_read(line) for line in lines)
        self._forms: dict[Form, dict[Form, None]] = {}
        for line in self._lines:
            meanings = [*line.left, *line.right]
            for form in line.left:
                self._forms.setdefault(form, {}).update(dict.fromkeys(meanings))
        self.words: tuple[str, ...] = tuple(
            dict.fromkeys(name for line in self._lines for name in (*line.left.values(), *line.right.values()))
        )
        """Every form as written, without `&`."""
        self._longest = max((len(form) for form in self._forms), default=1)

    def meanings(self, form: Form) -> tuple[Form, ...]:
        """Everything that `form` also means, in the order of the lines; empty if it stands in none.

        The order of the phrases of a form does not matter.
        """
        found = self._forms.get(_sorted(form))
        return () if found is None else tuple(other for other in found if other != _sorted(form))

    def knows(self, form: Form) -> bool:
        """Whether a line has `form` on its left."""
        return _sorted(form) in self._forms

    def extended(self, lines: Iterable[str]) -> Glossary:
        """Give this glossary with a team's own lines."""
        return Glossary([*(line.text for line in self._lines), *lines])

    def contradictions(self) -> list[GlossaryFault]:
        """Every line that contradicts or shadows another one, or has forms that cannot be searched."""
        faults: list[GlossaryFault] = []
        for line in self._lines:
            faults.extend(GlossaryFault(kind=FaultKind.EMPTY, line=line.text, form=form) for form in line.empty)
            faults.extend(GlossaryFault(kind=FaultKind.REPEATED, line=line.text, form=form) for form in line.repeated)
        faults.extend(_between(self._lines))
        return faults


@cache
def shipped() -> Glossary:
    """The glossary that comes with the package. Read at the first call."""
    text = resources.files("bot.text").joinpath("data/glossary.yaml").read_text("utf-8")
    return Glossary(yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))  # noqa: S506 - both are safe


def _read(text: str) -> _Line:
    left, arrow, right = text.partition(">")
    repeated: list[str] = []
    empty: list[str] = []
    sides: list[dict[Form, str]] = []
    seen: set[Form] = set()
    for side in (left, right):
        forms: dict[Form, str] = {}
        for written in side.split(",") if side.strip() else []:
            form = _form(written)
            name = " ".join(written.replace("&", " ").split())
            if form is None:
                empty.append(name)
            elif form in seen:
                repeated.append(name)
            else:
                seen.add(form)
                forms[form] = name
                forms.update(dict.fromkeys(_one_word(written), name))
        sides.append(forms)
    if len(seen) < 2 or (arrow and not (sides[0] and sides[1])):  # noqa: PLR2004 - one form means only itself
        empty.append(text.strip())
    return _Line(text=text, left=sides[0], right=sides[1], repeated=tuple(repeated), empty=tuple(empty))


def _form(written: str) -> Form | None:
    phrases = [phrase(part) for part in written.split("&")]
    found = [each for each in phrases if each is not None]
    return _sorted(tuple(found)) if len(found) == len(phrases) else None


def _one_word(written: str) -> list[Form]:
    """`LoRA` is two halves to the tokeniser; whoever writes `lora` means it too."""
    runs = list(pieces(fold(written)))
    return [(Phrase(tokens=(each,)),) for each in joined(runs[0])[:1]] if len(runs) == 1 else []


def _sorted(form: Form) -> Form:
    return form if len(form) == 1 else tuple(sorted(form, key=lambda each: each.tokens))


def _between(lines: tuple[_Line, ...]) -> Iterator[GlossaryFault]:
    by_form: dict[Form, list[_Line]] = {}
    for line in lines:
        for form in (*line.left, *line.right):
            by_form.setdefault(form, []).append(line)
    reported: set[tuple[int, int]] = set()
    for sharing in by_form.values():
        for one, two in combinations(sharing, 2):
            if (id(one), id(two)) not in reported:
                reported.add((id(one), id(two)))
                yield from _compare(one, two)


def _compare(one: _Line, two: _Line) -> Iterator[GlossaryFault]:
    if one.equal and two.equal:
        shared = one.left.keys() & two.left.keys()
        for smaller, larger in ((two, one), (one, two)):
            if smaller.left.keys() <= larger.left.keys():
                yield GlossaryFault(kind=FaultKind.SHADOWED, line=smaller.text, other=larger.text)
                return
        first = next(form for form in two.left if form in shared)
        yield GlossaryFault(kind=FaultKind.OVERLAP, line=two.text, other=one.text, form=two.left[first])
    elif one.equal or two.equal:
        equal, directed = (one, two) if one.equal else (two, one)
        void = [form for form in directed.right if form in equal.left]
        if void and any(form in equal.left for form in directed.left):
            yield GlossaryFault(
                kind=FaultKind.CONTRADICTION, line=directed.text, other=equal.text, form=directed.right[void[0]]
            )
    else:
        yield from _compare_directed(one, two)


def _compare_directed(one: _Line, two: _Line) -> Iterator[GlossaryFault]:
    back = [form for form in two.right if form in one.left]
    if back and any(form in one.right for form in two.left):
        yield GlossaryFault(kind=FaultKind.CONTRADICTION, line=two.text, other=one.text, form=two.right[back[0]])
    elif two.left.keys() <= one.left.keys() and two.right.keys() <= one.right.keys():
        yield GlossaryFault(kind=FaultKind.SHADOWED, line=two.text, other=one.text)
    elif one.left.keys() <= two.left.keys() and one.right.keys() <= two.right.keys():
        yield GlossaryFault(kind=FaultKind.SHADOWED, line=one.text, other=two.text)
