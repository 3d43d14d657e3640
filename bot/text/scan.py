"""Find what has a meaning in a text: code, links, pull requests, files, code-like words.

One scanner serves both the rendering and the extraction. `scan` walks the text once, left to right, and never looks at
a character more than a bounded number of times: no expression here can backtrack over more than one word or label.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from enum import Enum, auto
from typing import NamedTuple

from bot.text.vocabulary import Vocabulary
from bot.text.words import Target, classify_code, find_words, is_host, target_of

LABEL_LIMIT = 300
URL_LIMIT = 2000
"""Slack refuses a link of more than 3,000 characters; some are added by escaping."""
CHUNK_LIMIT = 2 * URL_LIMIT
"""No run of characters without a blank is looked at for longer: after each link in it the rest is read once more."""

_START = re.compile(
    rf"(?P<tick>`+)|(?P<link>\[)|(?P<chunk>[A-Za-z0-9_/.#@-][A-Za-z0-9_/.:@+#-]{{0,{CHUNK_LIMIT}}}(?:\(\))?)",
)
_MD_LINK = re.compile(
    rf"\[(?P<label>[^\[\]\n]{{1,{LABEL_LIMIT}}})\]\((?P<url>https?://[^\s()<>|\"`]{{1,{URL_LIMIT}}}"
    r"(?:\([^\s()<>|\"`]{0,200}\)[^\s()<>|\"`]{0,200})?)\)",
    re.IGNORECASE,
)
_BARE_URL = re.compile(
    r"https?://(?P<host>[A-Za-z0-9](?:[A-Za-z0-9-]|\.(?=[A-Za-z0-9]))*(?::\d{1,5}(?!\d))?)"
    rf"(?P<rest>[/?#][A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]{{0,{URL_LIMIT}}})?",
    re.IGNORECASE,
)
_PULL = re.compile(
    r"(?P<repo>[A-Za-z0-9][A-Za-z0-9_.-]{0,99}/[A-Za-z0-9_.-]{1,100})?#(?P<number>[1-9]\d{0,7})$",
)
_SEVERAL = re.compile(r"#[1-9]\d{1,7}(?:[/+]#[1-9]\d{1,7})+$")
_PULL_WORDS = frozenset({"pr", "prs", "issue", "issues", "pull", "gh", "fix", "fixes", "bug"})
_TRAILING = ".,:;!?'*~_@+-"


class Kind(Enum):
    """What a piece of text is."""

    CODE = auto()
    LINK = auto()
    PULL = auto()
    PATH = auto()
    WORD = auto()


class Piece(NamedTuple):
    """`text[start:end]` is of this kind and shows as `shown`; what stands around `shown` are markers.

    `name` is what an extraction lists: the path of `a/b.py:12` is `a/b.py`. Empty: nothing to list. A `url` of a LINK
    is absolute; PULL and PATH need the repository. A tuple, because a text has dozens and is scanned more than once.
    """

    kind: Kind
    start: int
    end: int
    shown: str
    name: str = ""
    url: str = ""
    code: bool = False
    target: Target | None = None
    repo: str = ""
    number: str = ""


def scan(text: str, vocabulary: Vocabulary) -> list[Piece]:
    """Give the pieces in order; they do not overlap. Everything between them is plain text."""
    pieces: list[Piece] = []
    ticks: _Ticks | None = None
    position = 0
    while (match := _START.search(text, position)) is not None:
        start, position = match.span()
        kind = match.lastgroup
        if kind == "tick":
            ticks = ticks or _Ticks(text)
            close = ticks.closing(start, position)
            if close is not None:
                pieces.append(_ticked(text, start, position, close, vocabulary))
                position = close + position - start
        elif kind == "link":
            link = _markdown_link(text, start)
            if link is not None:
                pieces.append(link)
                position = link.end
        else:
            position = _chunk(text, start, position, vocabulary, pieces)
    return pieces


class _Ticks:
    """Runs of back-ticks by length, so that the closing run of a span is found without a search."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._by_length: dict[int, list[int]] = {}
        for run in re.finditer(r"`+", text):
            self._by_length.setdefault(run.end() - run.start(), []).append(run.start())

    def closing(self, start: int, inner: int) -> int | None:
        """Where the run that closes the span opened at `start` begins; none on the same line: not a span."""
        starts = self._by_length.get(inner - start, [])
        index = bisect_right(starts, start)
        if index == len(starts):
            return None
        close = starts[index]
        if self._text.find("\n", inner, close) >= 0:
            return None
        return close if not self._text[inner:close].isspace() else None


def _ticked(text: str, start: int, inner: int, close: int, vocabulary: Vocabulary) -> Piece:
    shown = text[inner:close]
    end = close + inner - start
    content = shown.strip()
    pull = _PULL.match(content) if "#" in content else None
    if pull is not None:
        return Piece(Kind.PULL, start, end, shown, content, code=True, repo=pull["repo"] or "", number=pull["number"])
    target = target_of(content, vocabulary, ticked=True)
    if target is not None:
        return Piece(Kind.PATH, start, end, shown, target.path, code=True, target=target)
    return Piece(Kind.CODE, start, end, shown, classify_code(content, vocabulary), code=True)


def _markdown_link(text: str, start: int) -> Piece | None:
    match = _MD_LINK.match(text, start)
    if match is None or _BARE_URL.match(match["url"]) is None:
        return None
    label = match["label"]
    code = len(label) > 2 and label[0] == label[-1] == "`" and "`" not in label[1:-1]  # noqa: PLR2004
    shown = label[1:-1] if code else label
    if not shown.strip():
        return None
    return Piece(Kind.LINK, start, match.end(), shown, url=match["url"], code=code)


def _chunk(text: str, start: int, end: int, vocabulary: Vocabulary, pieces: list[Piece]) -> int:
    """Handle one run of characters of words and paths; give the position from which to go on."""
    chunk = text[start:end]
    if chunk.isdigit() or (chunk.islower() and chunk[0] != "-" and chunk.replace("-", "").isalpha()):
        return end
    if chunk.isalpha() and (chunk.isupper() or chunk[1:].islower() or len(chunk) == 1):
        if chunk in vocabulary.file_names:
            _classify(text, start, end, vocabulary, pieces)
        return end  # an ordinary word: most are
    scheme = chunk.find("://")
    if scheme > 0:
        begin = chunk.rfind("http", 0, scheme)
        url = None
        if begin >= 0 and not (begin and chunk[begin - 1].isalnum()):
            url = _bare_url(text, start + begin)
        if url is not None:
            if begin:
                _words(text, start, start + begin, vocabulary, pieces)
            pieces.append(url)
            return url.end
    _classify(text, start, end, vocabulary, pieces)
    return end


def _bare_url(text: str, start: int) -> Piece | None:
    match = _BARE_URL.match(text, start)
    if match is None:
        return None
    url = _trimmed(match[0][:URL_LIMIT] if len(match[0]) <= URL_LIMIT else match[0][:0])
    if not url or url.endswith("//"):
        return None
    return Piece(Kind.LINK, start, start + len(url), url, url=url)


def _trimmed(url: str) -> str:
    """Take off the punctuation of the sentence around: a closing bracket stays only if its opening one is inside."""
    surplus = {")": url.count(")") - url.count("("), "]": url.count("]") - url.count("[")}
    end = len(url)
    while end:
        last = url[end - 1]
        if last in _TRAILING.replace("-", "").replace("+", "").replace("@", ""):
            end -= 1
        elif surplus.get(last, 0) > 0:
            surplus[last] -= 1
            end -= 1
        else:
            break
    return url[:end]


def _classify(text: str, start: int, end: int, vocabulary: Vocabulary, pieces: list[Piece]) -> None:
    chunk = text[start:end]
    if chunk.isalnum() and chunk not in vocabulary.file_names:
        _words(text, start, end, vocabulary, pieces)
        return
    before = text[start - 1] if start else ""
    if "#" in chunk:
        pulls = _pulls(text, start, chunk.rstrip(_TRAILING), before)
        if pulls:
            pieces.extend(pulls)
            return
    if chunk[0] == "/" and not (before and (before.isalnum() or before == "_")):
        return  # an endpoint or an absolute path: neither a file of the repository nor code
    if chunk[0] == "@":
        return  # a person or a decorator
    bare = chunk.lstrip("/:") if chunk[0] == "/" else chunk
    offset = start + len(chunk) - len(bare)
    if "." in bare or "/" in bare or bare in vocabulary.file_names:
        body = bare.rstrip(_TRAILING)
        follower = text[offset + len(body) : offset + len(body) + 1]
        target = target_of(body, vocabulary, ticked=False, follower=follower)
        if target is not None:
            pieces.append(Piece(Kind.PATH, offset, offset + len(body), body, target.path, code=True, target=target))
            return
        if "/" in bare:
            if not is_host(bare.partition("/")[0], vocabulary):
                _halves(text, offset, end, vocabulary, pieces)
            return
    _words(text, offset, end, vocabulary, pieces)


def _halves(text: str, start: int, end: int, vocabulary: Vocabulary, pieces: list[Piece]) -> None:
    """`block_size/vllm.py` is two things with a slash between."""
    for half in re.finditer(r"[^/]+", text[start:end]):
        begin = start + half.start()
        body = half[0].rstrip(_TRAILING)
        target = target_of(body, vocabulary, ticked=False)
        if target is not None:
            pieces.append(Piece(Kind.PATH, begin, begin + len(body), body, target.path, code=True, target=target))
        else:
            _words(text, begin, start + half.end(), vocabulary, pieces)


def _pulls(text: str, start: int, chunk: str, before: str) -> list[Piece]:
    """Read one mention, or several as in `#120/#121`."""
    if chunk.count("#") == 1:
        pull = _pull(text, start, chunk, before)
        return [] if pull is None else [pull]
    if _SEVERAL.match(chunk) is None or (before.isascii() and before.isalnum()):
        return []
    found = re.finditer(r"#(\d+)", chunk)
    return [Piece(Kind.PULL, start + m.start(), start + m.end(), m[0], m[0], number=m[1]) for m in found]


def _pull(text: str, start: int, chunk: str, before: str) -> Piece | None:
    hash_at = chunk.rfind("#")
    head, tail = chunk[:hash_at], chunk[hash_at:]
    follower = text[start + len(chunk) : start + len(chunk) + 1]
    glued = follower.isascii() and follower.isalnum()
    match = _PULL.match(chunk if "/" in head else tail)
    if match is None or glued:
        return None
    if match["repo"]:
        if before == "/":
            return None
        return Piece(Kind.PULL, start, start + len(chunk), chunk, chunk, repo=match["repo"], number=match["number"])
    if not _may_stand_alone(text, start, head, before, match["number"]):
        return None
    begin = start + hash_at
    return Piece(Kind.PULL, begin, begin + len(tail), tail, tail, number=match["number"])


def _may_stand_alone(text: str, start: int, head: str, before: str, number: str) -> bool:
    if head:
        return head.rstrip("-").lower() in _PULL_WORDS
    if before and (before in "&/_" or (before.isascii() and before.isalnum())):
        return False
    return len(number) >= _SHORTEST[_at_line_start(text, start)]


_SHORTEST = {False: 2, True: 3}
"""`#1` is a place in a list in some formats, and so is `#12` at the beginning of a line."""


def _at_line_start(text: str, start: int) -> bool:
    return start == 0 or text[start - 1] == "\n"


def _words(text: str, start: int, end: int, vocabulary: Vocabulary, pieces: list[Piece]) -> None:
    for begin, stop, name in find_words(text, start, end, vocabulary):
        pieces.append(Piece(Kind.WORD, begin, stop, text[begin:stop], name, code=True))
