"""The words before a colon: which facts of an entry a reader can ask for, and how they are spelt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from bot.model import Order, Phrase, Term, Verdict
from bot.readers.widen import widen
from bot.text.glossary import Glossary
from bot.text.normalise import normalise
from bot.text.pulls import address
from bot.text.tokens import metadata, phrase

NAMES: Mapping[str, str] = {
    "repo": "repo",
    "repository": "repo",
    "仓库": "repo",
    "topic": "topic",
    "主题": "topic",
    "verdict": "verdict",
    "评价": "verdict",
    "audience": "audience",
    "读者": "audience",
    "path": "path",
    "file": "path",
    "路径": "path",
    "pr": "pr",
    "since": "since",
    "after": "since",
    "自": "since",
    "before": "before",
    "until": "before",
    "早于": "before",
    "sort": "sort",
    "order": "sort",
    "排序": "sort",
}
"""Every spelling of a qualifier, lower-case, and what it is."""

ORDERS: Mapping[str, Order] = {
    "new": Order.NEW,
    "newest": Order.NEW,
    "date": Order.NEW,
    "最新": Order.NEW,
    "时间": Order.NEW,
    "best": Order.BEST,
    "relevance": Order.BEST,
    "相关": Order.BEST,
}

_VERDICTS: Mapping[Verdict, tuple[str, ...]] = {
    Verdict.MUST_READ: ("mustread", "must", "精读", "值得精读", "必读", "细读"),
    Verdict.RECOMMENDED: ("recommended", "recommend", "建议", "建议阅读", "推荐", "值得阅读"),
    Verdict.SKIM: ("skim", "quickread", "速读", "快速阅读", "值得快速阅读", "略读", "浏览"),
    Verdict.SKIP: ("skip", "optional", "跳过", "可跳过", "略过", "不必读"),
}
_PULL_REQUEST = re.compile(r"(?:([\w.-]+/[\w.-]+)#|#|!)?(\d{1,9})", re.ASCII)


def kind_of(written: str) -> str:
    """What qualifier `written` begins with: `仓库:` is a `repo`. Raises KeyError where it begins with none."""
    return NAMES[written.partition(":")[0].casefold()]


def term(kind: str, value: str, *, glossary: Glossary, topics: Mapping[str, str]) -> Term | None:
    """What `kind:value` asks for, `kind` being a value of `NAMES`; None if `value` means nothing. Commas mean "or"."""
    if kind == "pr":
        return pull_request(value)
    alternatives: list[tuple[Phrase, ...]] = []
    for each in value.split(","):
        alternatives.extend(_alternatives(kind, each.strip(), glossary=glossary, topics=topics))
    if not alternatives:
        return None
    return Term(word=f"{kind}:{value}", alternatives=tuple(dict.fromkeys(alternatives)))


def pull_request(value: str) -> Term | None:
    """`48017`, `#48017`, `owner/repo#12` or a link; None if it is none of these."""
    link = address(value)
    found = _PULL_REQUEST.fullmatch(value)
    if link and link.number:
        name = f"{link.repo}#{link.number}"
    elif found:
        name = f"{found[1]}#{int(found[2])}" if found[1] else str(int(found[2]))
    else:
        return None
    token = metadata("pr", name)
    return Term(word=value, alternatives=((Phrase(tokens=(token,)),),)) if token else None


def _alternatives(
    kind: str, value: str, *, glossary: Glossary, topics: Mapping[str, str]
) -> Iterator[tuple[Phrase, ...]]:
    token: str | None = None
    if kind == "repo":
        link = address(value)
        token = metadata(kind, link.repo if link else value)
    elif kind == "topic":
        wanted = normalise(value)
        token = metadata(kind, topics.get(wanted, "-".join(wanted.split())))
    elif kind == "verdict":
        spelling = re.sub(r"[\s_-]+", "", normalise(value))
        verdict = next((each for each, names in _VERDICTS.items() if spelling in names), None)
        token = metadata(kind, verdict) if verdict else None
    elif kind == "path":
        token = metadata(kind, value.strip("/").removeprefix("./"))
    else:
        yield from _audience(value, glossary)
    if token is not None:
        yield (Phrase(tokens=(token,)),)
    if kind == "path" and (exact := phrase(value)) is not None and len(exact.tokens) > 1:
        yield (exact,)


def _audience(value: str, glossary: Glossary) -> Iterator[tuple[Phrase, ...]]:
    if phrase(value) is None:
        return
    for meaning in widen([value], glossary):
        for form in meaning.alternatives:
            yield tuple(
                Phrase(tokens=tuple(f"audience:{token}" for token in each.tokens), prefix=each.prefix) for each in form
            )
