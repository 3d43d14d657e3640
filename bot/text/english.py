"""The little English grammar that look-up needs. Wrong guesses are harmless as long as both sides guess alike."""

from __future__ import annotations

_SHORTEST_PLURAL = 4
_SHORTEST_STEM = 4
_LONGEST_STEM = 14
_NOUNS = ("ion", "ment", "ness", "ity", "age", "er", "or", "ency", "ance", "ence", "ism", "ics", "ory", "ary")
_KEPT = ("ss", "us", "is", "ias")


def singular(word: str) -> str:
    """A lower-case word without its plural ending: `blocks` and `block`, `batches` and `batch` become one.

    Only ASCII words of four letters and more change.
    """
    if len(word) < _SHORTEST_PLURAL or not word.endswith("s") or not (word.isascii() and word.isalpha()):
        return word
    if word.endswith(_KEPT) and not (len(word) == _SHORTEST_PLURAL and word.endswith("pus")):
        return word  # but GPUs, CPUs, NPUs and TPUs are many
    if word.endswith("ies") and not word.endswith("okies") and len(word) > _SHORTEST_PLURAL:
        return word[:-3] + "y"
    long_plural = word.endswith(("sses", "xes", "shes", "iases", "ches"))
    if long_plural and not word.endswith("aches"):
        return word[:-2]
    return word[:-1]


def inflections(word: str) -> tuple[str, ...]:
    """Other forms in which the same verb may stand: `schedule`, `scheduled`, `scheduling`.

    For a lower-case ASCII word; empty for everything else, for short words and for what looks like a noun. Some forms
    are no words at all, and simply find nothing.
    """
    if not (word.isascii() and word.isalpha()) or not _SHORTEST_STEM <= len(word) <= _LONGEST_STEM:
        return ()
    if word.endswith(_NOUNS) or not set(word[:-1]) & set("aeiou"):
        return ()
    stems = _stems(word)
    forms = [form for stem in stems for form in _forms(stem)]
    return tuple(dict.fromkeys(form for form in forms if form != word))


def _stems(word: str) -> list[str]:
    """The bare verb, or the two that are possible: `caching` comes from `cach` or `cache`."""
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem == word or len(stem) < _SHORTEST_STEM - 1:
            continue
        if len(stem) > _SHORTEST_STEM and stem[-1] == stem[-2] and stem[-1] not in "ls":
            return [stem[:-1]]
        return [stem, stem + "e"]
    return [word]


def _forms(verb: str) -> list[str]:
    if verb.endswith("e"):
        return [verb, verb + "d", verb[:-1] + "ing"]
    if verb.endswith("y"):
        return [verb, verb[:-1] + "ied", verb + "ing"]
    forms = [verb, verb + "ed", verb + "ing"]
    if verb[-1] in "bdgmnprt" and verb[-2] in "aeiou" and verb[-3] not in "aeiou":
        forms += [verb + verb[-1] + "ed", verb + verb[-1] + "ing"]
    return forms
