"""Find for whom an entry is, and who may pass it by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from bot.model import Span
from bot.text.vocabulary import Vocabulary

_BARE_NOUN = 3
_STOP = "，,。；;：:！？!?\n"
_LEADS = re.compile(
    r"(?:而且|并且|不过|因此|所以|同时|此外|另外|尤其是|特别是|尤其|特别|其中|对于|对|但|而|则|也|若|如果|建议|推荐|适合|请|让|帮助|提醒|方便|值得|凡是|凡|以及|\s)+"
)
_COMPARED = ("相对", "相比", "比起")
_ENGLISH_PROSE = re.compile(r"[a-z] [A-Za-z]+ [A-Za-z]+ [A-Za-z]")
_AND = re.compile(r"\s*(?:以及|和|与|及|、|或者|或|，|,)\s*")
_REST_OF_CLAUSE = re.compile(r"[^，,。；;：:！？!?\n]{0,24}")
_HEDGE = r"(?:则|基本|一般|通常|可以|其|的|也|都|仅|只|大多|大多数情况下|而言|来说|来讲|，|,|\s){0,4}"


@dataclass(frozen=True, slots=True)
class _Group:
    start: int
    end: int
    text: str
    negative: bool


@dataclass(frozen=True, slots=True)
class _Patterns:
    addressed: re.Pattern[str]
    subject: re.Pattern[str]
    advised: re.Pattern[str]
    condition: re.Pattern[str]
    negative: re.Pattern[str]
    negative_anywhere: re.Pattern[str]
    advice: re.Pattern[str]
    weak: frozenset[str]
    nouns: tuple[str, ...]
    english: tuple[tuple[re.Pattern[str], bool], ...]


def find_audiences(body: str, middle: Span | None, vocabulary: Vocabulary) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give (audience, audience that may pass it by), each in order. `middle` is the audience inside the verdict."""
    patterns = _patterns(vocabulary)
    groups: list[_Group] = []
    if middle is not None:
        groups.append(_Group(middle.start, middle.end, body[middle.start : middle.end], negative=False))
    groups.extend(_addressed(body, patterns))
    groups.extend(_subjects(body, patterns))
    groups.extend(_advised(body, patterns))
    groups.extend(_conditions(body, patterns))
    groups.extend(_english(body, patterns))
    kept = _without_overlap(groups)
    wanted = [name for group in kept if not group.negative for name in _split(group.text, patterns)]
    unwanted = [name for group in kept if group.negative for name in _split(group.text, patterns)]
    return tuple(dict.fromkeys(wanted)), tuple(dict.fromkeys(unwanted))


def _without_overlap(groups: Iterable[_Group]) -> list[_Group]:
    """Keep the first that was found of those that share characters: the surest pattern comes first."""
    kept: list[_Group] = []
    for group in groups:
        if all(group.end <= other.start or group.start >= other.end for other in kept):
            kept.append(group)
    return sorted(kept, key=lambda group: group.start)


def _addressed(body: str, patterns: _Patterns) -> Iterator[_Group]:
    """对 X 而言 …, 对 X 价值有限, 对于 X 有借鉴意义."""
    for match in patterns.addressed.finditer(body):
        negative = patterns.negative.match(body, match.end("group")) is not None
        if not negative and match["tail"] not in {"，", ","} and match["tail"] not in {"而言", "来说", "来讲"}:
            # 对 X 的影响有限: what follows decides, up to the end of the clause.
            rest = _REST_OF_CLAUSE.match(body, match.end("group"))
            negative = rest is not None and patterns.negative_anywhere.search(rest[0]) is not None
        yield _Group(match.start("group"), match.end("group"), match["group"], negative)


def _subjects(body: str, patterns: _Patterns) -> Iterator[_Group]:
    """普通用户直接升级即可, 使用 X 的团队应直接采用."""
    for match in patterns.subject.finditer(body):
        text = match["group"]
        lead = _LEADS.match(text)
        start = match.start("group") + (lead.end() if lead is not None else 0)
        text = body[start : match.end("group")]
        if not text.strip() or text.startswith(_COMPARED):
            continue
        negative = patterns.negative.match(body, match.end("group")) is not None
        bare = len(text.strip()) <= _BARE_NOUN and text.strip() in patterns.nouns
        if not negative and bare and match["tail"] in patterns.weak:
            continue
        yield _Group(start, match.end("group"), text, negative)


def _advised(body: str, patterns: _Patterns) -> Iterator[_Group]:
    """建议 X 关注, 适合 X."""
    for match in patterns.advised.finditer(body):
        yield _Group(match.start("group"), match.end("group"), match["group"], match["verb"].startswith("不"))


def _conditions(body: str, patterns: _Patterns) -> Iterator[_Group]:
    """若团队也维护 X，…; 如果不使用 X，可跳过."""
    for match in patterns.condition.finditer(body):
        after = _REST_OF_CLAUSE.match(body, match.end())
        rest = "" if after is None else after[0]
        negative = patterns.negative_anywhere.search(rest) is not None
        about_reader = re.search(r"你|您|团队|我们", match["clause"] + match["who"]) is not None
        if about_reader or patterns.advice.search(rest) is not None:
            yield _Group(match.start("clause"), match.end("clause"), match["clause"].removesuffix("的话"), negative)


def _english(body: str, patterns: _Patterns) -> Iterator[_Group]:
    if _ENGLISH_PROSE.search(body) is None:
        return
    for pattern, negative in patterns.english:
        for match in pattern.finditer(body):
            yield _Group(match.start("group"), match.end("group"), match["group"], negative)


def _split(text: str, patterns: _Patterns) -> Iterator[str]:
    """`A 维护者和 B 负责人` are two groups; `模型与推理开发者` is one."""
    start = 0
    for cut in _AND.finditer(text):
        part = text[start : cut.start()].strip()
        if part.endswith(patterns.nouns) and text.strip().endswith(patterns.nouns):
            yield part
            start = cut.end()
    rest = text[start:].strip()
    if rest:
        yield rest


@lru_cache(maxsize=8)
def _patterns(vocabulary: Vocabulary) -> _Patterns:
    zh, en = vocabulary.audience_zh, vocabulary.audience_en
    nouns, negative = _either(zh["nouns"]), _either(zh["negative"])
    group = rf"(?P<group>[^{_STOP}]{{0,48}}?(?:{nouns}))"
    tail = rf"(?:{negative}|{_either(zh['positive'])}|[在按把将][^{_STOP}]{{1,30}}?即可)"
    people, verbs = _either(en["nouns"]), _either(en["roles"])
    word = r"[\w/+#'`-]+(?:\.\w+)?"
    doing = r"(?: (?:of|on|with|who|using|running) [^.;,:\n]{1,40}?)?"
    crowd = rf"(?P<group>(?:{word} ){{0,7}}?(?:{people}){doing})"
    named = rf"(?P<group>(?:{word} ){{0,6}}?(?:{people}))(?![\w-])"
    unless = rf"(?P<group>(?:{verbs})\b[^,.;\n]{{1,60}})"
    english = (
        (rf"\b(?:{_either(en['negative_before'])}) {named}", True),
        (rf"\b(?:{_either(en['positive_before'])}) {named}", False),
        (rf"\bif you (?P<group>(?:do not|don't|never) {unless.replace('?P<group>', '?:')})", True),
        (rf"\b(?:if|unless) you (?:already |also )?{unless}", False),
        (rf"(?:^|(?<=[.;,:] )){crowd} (?={_either(en['negative'])})", True),
        (rf"(?:^|(?<=[.;,:] )){crowd} (?={_either(en['positive'])})", False),
    )
    return _Patterns(
        addressed=re.compile(
            rf"(?<![相绝反核应面比针校])(?:对于|面向|针对|对(?!齐|应|比|于|照)){group}(?=\s*(?P<tail>{tail}|而言|来说|来讲|[，,]|的(?:影响|价值|意义|帮助)))"
        ),
        subject=re.compile(rf"(?:^|[{_STOP}、]){group}\s*(?={_HEDGE}(?P<tail>{tail}))"),
        advised=re.compile(
            rf"(?P<verb>不建议|不推荐|建议|推荐|适合|推荐给|提醒|不适合|适用于|写给|影响的是|影响到的是|面向|针对)(?:所有)?{group}(?=\s*(?:{_either(zh['advised'])}|[{_STOP}]|$))"
        ),
        condition=re.compile(
            rf"(?:除非|如果|假如|倘若|若是|若|如)\s*(?P<who>(?:你们|您|你)?(?:的)?)\s*"
            rf"(?P<clause>(?:不|没有|未|并不|暂不)?(?:{_either(zh['roles'])})[^{_STOP}]{{1,40}}?)(?:的话)?(?:[，,]|(?=则|可|建议|应|[。；;\n]|$))"
        ),
        negative=re.compile(rf"{_HEDGE}(?:{negative})"),
        negative_anywhere=re.compile(negative),
        advice=re.compile(_either(zh["advice"])),
        weak=frozenset(zh["weak"]),
        nouns=zh["nouns"],
        english=tuple((re.compile(pattern, re.IGNORECASE), bad) for pattern, bad in english),
    )


def _either(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
