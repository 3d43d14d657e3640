"""Tell code-like words, files and paths from ordinary Latin words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bot.text.vocabulary import Vocabulary

_WORD = re.compile(
    r"(?P<flag>--[A-Za-z][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)*)"
    r"|(?P<number>[0-9][A-Za-z0-9_]*)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:(?:::|\.)[A-Za-z_][A-Za-z0-9_]*)*(?:\(\))?)",
)
_HUMP = re.compile(r"[A-Z]+[0-9]*(?![a-z])|[A-Z][a-z0-9]*|[a-z][a-z0-9]*")
_DIGITS = "0123456789"
_FOLLOWERS_OF_PATTERNS = "*<{$[?"
_FILE = re.compile(
    r"(?P<path>[A-Za-z0-9_.@+/-]*[A-Za-z0-9_+-]\.(?P<ext>[A-Za-z0-9]{1,12})|\.[a-z][A-Za-z-]{1,30}"
    r"|[A-Za-z0-9_.@+/-]{1,400})"
    r"(?P<line>:\d{1,6}(?:-\d{1,6})?|#L\d{1,6}(?:-L?\d{1,6})?|(?:::[A-Za-z_][A-Za-z0-9_]*){1,4}(?:\(\))?)?$",
)
_VERSION = re.compile(r"[vV]?\d[\d.,xX%+-]*[a-z]{0,4}\d*$")
_CODE_SIGNS = re.compile(r"[(=\[{<\"']|::|->")
_FOLDER = re.compile(r"\.?[a-z0-9][a-z0-9_.-]*$")
_NAME_LIMIT = 120
_FOLDERS_WITHOUT_TICKS = 3
_PARTS_OF_REPOSITORY_PATH = 2


@dataclass(frozen=True, slots=True)
class Target:
    """A file or folder as written, and whether the repository is likely to hold it at this place."""

    path: str
    linked: bool
    folder: bool = False
    line: str = ""


def find_words(text: str, start: int, end: int, vocabulary: Vocabulary) -> Iterator[tuple[int, int, str]]:
    """Give (start, end, name) of the code-like words of one run of word characters."""
    run = text[start:end]
    if run.isalnum():  # one plain word, as most are
        if run[0] not in _DIGITS and is_code_word(run, vocabulary):
            yield start, end, run
        return
    for match in _WORD.finditer(text, start, end):
        word = match[0]
        if match.lastgroup == "number":
            continue
        if match.lastgroup == "flag":
            before = text[match.start() - 1] if match.start() else ""
            if not (before.isascii() and (before.isalnum() or before in "-_")):
                yield match.start(), match.end(), word
        elif is_code_word(word, vocabulary):
            yield match.start(), match.end(), word
        elif "." in word:
            yield from _parts(match.start(), word, vocabulary)


def _parts(start: int, word: str, vocabulary: Vocabulary) -> Iterator[tuple[int, int, str]]:
    """`fixed.TemplateMap` is no dotted name, but its second half may be code."""
    for part in re.finditer(r"[^.:]+(?:::[^.:]+)*", word):
        if "." not in part[0] and is_code_word(part[0], vocabulary):
            yield start + part.start(), start + part.end(), part[0]


def is_code_word(word: str, vocabulary: Vocabulary) -> bool:
    """Whether a Latin word without back-ticks is written as code is: `a_b`, `f()`, `A::b`, `a.b`, `TwoHumps`."""
    if word.endswith("()"):
        return any(char.isalpha() for char in word)
    lowered = word.lower()
    if lowered in vocabulary.products or len(word) > _NAME_LIMIT or lowered.rstrip(_DIGITS) in vocabulary.products:
        return False
    if "::" in word:
        return True
    if "." in word:
        return _is_dotted_code(word, vocabulary)
    if "_" in word:
        return _is_snake(word)
    return _is_camel(word)


def _is_snake(word: str) -> bool:
    core = word.strip("_")
    if not core or not any(char.isalpha() for char in core):
        return False
    if "_" not in core and len(core) == 1:
        return False
    dunder = word.startswith("__") and word.endswith("__")
    # `_emphasis_` is how some people write italics: shown as it stands, and no name.
    return dunder or not (word[0] == word[-1] == "_")


def _is_camel(word: str) -> bool:
    if word.islower() or word.isupper() or not word.isalnum():
        return False
    humps = _HUMP.findall(word)
    if len(humps) < 2:  # noqa: PLR2004
        return False
    if word[0].islower():
        return len(humps[0]) > 1 and all(hump[1:].islower() for hump in humps[1:])
    full = [hump for hump in humps if sum(char.islower() for char in hump) >= 2]  # noqa: PLR2004
    if full == humps[:1] and len(humps) == 2:  # noqa: PLR2004
        return False  # OpenMP, PaddleOCR, InternVL3: a word and its abbreviation are a name
    return len(full) >= 2 or (len(full) == 1 and len(full[0]) > 3)  # noqa: PLR2004


def _is_dotted_code(word: str, vocabulary: Vocabulary) -> bool:
    parts = word.split(".")
    if any(len(part) < 2 for part in parts) or parts[-1].lower() in vocabulary.hosts:  # noqa: PLR2004
        return False
    if any("_" in part and _is_snake(part) for part in parts):
        return True
    return parts[0].islower()


def classify_code(content: str, vocabulary: Vocabulary) -> str:
    """Give the identifier between back-ticks, or "" where it is a value, a command, a product or a phrase."""
    if not content or len(content) > _NAME_LIMIT or not content.isascii():
        return ""
    if content.lower() in vocabulary.products or content in vocabulary.literals:
        return ""
    if content[0] == "/" or "://" in content or _VERSION.match(content) is not None:
        return ""
    if not any(char.isalpha() or char == "_" for char in content):
        return ""
    if " " in content and _CODE_SIGNS.search(content) is None:
        return ""
    return content


def target_of(content: str, vocabulary: Vocabulary, *, ticked: bool, follower: str = "") -> Target | None:
    """Read a path or file name; nothing where the words only look like one.

    `follower` is the character after it: `tests/` before a Chinese word or `*.py` is not a folder.
    """
    plain = content.isidentifier() and content not in vocabulary.file_names
    match = None if plain else _FILE.match(content)
    if match is None or content.lower() in vocabulary.products:
        return None
    path, line = match["path"], match["line"] or ""
    parts = path.removeprefix("./").split("/")
    folder = parts[-1] == ""
    if folder:
        parts.pop()
    if not parts or "" in parts or ".." in parts[1:]:
        return None
    if not folder and is_file_name(parts[-1], vocabulary):
        return _file(path, line, parts, vocabulary)
    if line or (folder and follower and (not follower.isascii() or follower in _FOLLOWERS_OF_PATTERNS)):
        return None
    enough = _PARTS_OF_REPOSITORY_PATH if ticked or folder else _FOLDERS_WITHOUT_TICKS
    if len(parts) < enough or parts[0] not in vocabulary.roots or not all(map(_FOLDER.match, parts)):
        return None
    return Target(path, linked=True, folder=True)


def _file(path: str, line: str, parts: list[str], vocabulary: Vocabulary) -> Target | None:
    folders = parts[:-1]
    if not folders:
        return Target(path, linked=False, line=line)
    if is_host(parts[0], vocabulary) or any(is_file_name(part, vocabulary) for part in folders):
        return None  # an address without its scheme, or two file names with a slash between
    if not any(char.isalpha() for char in "".join(folders)):
        return None
    return Target(path, linked=parts[0] != "..", line=line)


def is_file_name(name: str, vocabulary: Vocabulary) -> bool:
    """Whether a word is a file name: a known ending on a stem with a letter, or a name known without one."""
    if name in vocabulary.file_names or (name.partition(".")[0] in vocabulary.file_names and name[0] != "."):
        return True  # Dockerfile, Dockerfile.rocm
    if name.lower() in vocabulary.products or "@" in name:
        return False
    stem, dot, ending = name.rpartition(".")
    if not dot or ending.lower() not in vocabulary.extensions:
        return False
    if not stem.strip("."):
        return False
    return any(char.isalpha() or char == "_" for char in stem)


def is_host(part: str, vocabulary: Vocabulary) -> bool:
    """Whether the first part of a path names a machine of the network: an address without its scheme."""
    stem, dot, ending = part.rpartition(".")
    return bool(dot) and bool(stem) and ending in vocabulary.hosts
