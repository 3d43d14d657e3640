"""The check that no message or view leaves without: Slack will take it, and it calls nobody."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.errors import MessageInvalid
from bot.model import Json, Message
from bot.render import limits

_TEXT_STYLES: Final = frozenset({"bold", "italic", "strike", "code"})


class BlockInvalid(MessageInvalid):
    """One block breaks a limit; `block` is its 1-based number."""

    def __init__(self, message: str, *, block: int) -> None:
        super().__init__(message)
        self.block = block


def check_message(message: Message, *, mentions: Collection[str] = ()) -> None:
    """Return if Slack will take the message; raise MessageInvalid, naming block and limit, if not.

    `mentions` are the user and channel ids of our own that may stand in it; every other mention is refused,
    and so is every object of markup, in which a digest's characters could mean something.
    """
    check_text(message.text)
    check_blocks(message.blocks, mentions=mentions)


def check_text(text: str) -> None:
    """Return if `text` may be a message's text (it is escaped already); raise MessageInvalid if not."""
    if limits.is_blank(text):
        raise MessageInvalid("text: is empty; screen readers and phones read only this")
    if limits.measure_escaped(text) > limits.TEXT:
        raise MessageInvalid(f"text: {limits.measure_escaped(text)} characters, at most {limits.TEXT}")
    if "<" in text or ">" in text:
        raise MessageInvalid("text: has an unescaped < or >, which Slack reads as a link or a mention")


def check_blocks(blocks: Sequence[Json], *, mentions: Collection[str] = ()) -> None:
    """Return if the blocks may be a message's; raise MessageInvalid, naming block and limit, if not."""
    _check_blocks(blocks, most=limits.MESSAGE_BLOCKS, payload=limits.PAYLOAD, mentions=mentions, in_view=False)


def check_view(view: Json, *, mentions: Collection[str] = ()) -> None:
    """Return if Slack will open (or publish) the view; raise MessageInvalid, naming block and limit, if not."""
    kind = view.get("type")
    if kind not in ("modal", "home"):
        raise MessageInvalid(f"view: type {kind!r}, only modal and home are known")
    if kind == "modal":
        for part in ("title", "submit", "close"):
            if part in view or part == "title":
                _plain(view.get(part), f"view {part}", limits.VIEW_TITLE)
    _identifier(view, "callback_id", "view")
    if len(view.get("private_metadata", "")) > limits.PRIVATE_METADATA:
        raise MessageInvalid(f"view private_metadata: over {limits.PRIVATE_METADATA} characters")
    _check_blocks(
        view.get("blocks", ()),
        most=limits.VIEW_BLOCKS,
        payload=limits.VIEW_PAYLOAD,
        mentions=mentions,
        in_view=True,
    )


@dataclass(slots=True)
class _Check:
    """One walk over a message: where it is, what it has weighed so far, whom it may name."""

    mentions: Collection[str]
    in_view: bool
    weight: int = 0


def _check_blocks(blocks: Sequence[Json], *, most: int, payload: int, mentions: Collection[str], in_view: bool) -> None:
    if not blocks:
        raise MessageInvalid("blocks: there is none")
    if len(blocks) > most:
        raise MessageInvalid(f"blocks: {len(blocks)}, at most {most}")
    walk = _Check(mentions, in_view)
    ids: set[str] = set()
    for number, block in enumerate(blocks, start=1):
        try:
            _check_block(block, number, walk, ids)
        except MessageInvalid as error:
            raise BlockInvalid(str(error), block=number) from None
    if walk.weight > payload:
        raise MessageInvalid(f"blocks: about {walk.weight} characters in all, at most {payload}")


def _kind(value: object) -> object:
    """The `type` of an object; None for anything else."""
    # Nearly all are dicts, and to ask an abstract class takes longer than the rest of the check.
    return value.get("type") if type(value) is dict or isinstance(value, Mapping) else None


def _check_block(block: Json, number: int, walk: _Check, ids: set[str]) -> None:
    kind = _kind(block)
    where = f"block {number} ({kind})"
    check = _BLOCKS.get(kind) if isinstance(kind, str) else None
    if check is None:
        raise MessageInvalid(f"{where}: not one of {', '.join(sorted(_BLOCKS))}")
    if "block_id" in block:
        _identifier(block, "block_id", where)
        if block["block_id"] in ids:
            raise MessageInvalid(f"{where}: block_id {block['block_id']!r} stands twice")
        ids.add(block["block_id"])
    walk.weight += limits.FRAME
    check(block, where, walk)


def _length(text: object, where: str, most: int) -> int:
    if not isinstance(text, str):
        raise MessageInvalid(f"{where}: wants text, has {type(text).__name__}")
    if not text:
        raise MessageInvalid(f"{where}: is empty")
    length = limits.measure(text)
    if length > most:
        raise MessageInvalid(f"{where}: {length} characters, at most {most}")
    return length


def _identifier(holder: Json, key: str, where: str) -> None:
    if key in holder:
        _length(holder[key], f"{where} {key}", limits.IDENTIFIER)


def _plain(value: object, where: str, most: int) -> int:
    if not isinstance(value, Mapping) or value.get("type") != "plain_text":
        raise MessageInvalid(
            f"{where}: wants a plain_text object; markup (mrkdwn) is not used, it would read a digest's "
            "characters as formatting, links and mentions"
        )
    length = _length(value.get("text"), where, most)
    if limits.is_blank(value["text"]):
        raise MessageInvalid(f"{where}: shows nothing")
    return length


def _url(value: object, where: str) -> None:
    _length(value, f"{where} url", limits.URL)
    if not str(value).startswith(("https://", "http://", "mailto:", "slack://")):
        raise MessageInvalid(f"{where} url: {str(value)[:40]!r} is no web address")


def _header(block: Json, where: str, walk: _Check) -> None:
    walk.weight += _plain(block.get("text"), where, limits.HEADER)


def _section(block: Json, where: str, walk: _Check) -> None:
    if "text" not in block and "fields" not in block:
        raise MessageInvalid(f"{where}: has neither text nor fields")
    if "text" in block:
        walk.weight += _plain(block["text"], where, limits.PLAIN_TEXT)
    fields = _list(block.get("fields", ()), f"{where} fields", limits.FIELDS, least=0)
    for field in fields:
        walk.weight += _plain(field, f"{where} field", limits.FIELD)
    if "accessory" in block:
        _control(block["accessory"], f"{where} accessory", walk)


def _context(block: Json, where: str, walk: _Check) -> None:
    for element in _list(block.get("elements"), where, limits.CONTEXT):
        if isinstance(element, Mapping) and element.get("type") == "image":
            _image(element, where, walk)
        else:
            walk.weight += _plain(element, where, limits.PLAIN_TEXT)


def _image(block: Json, where: str, walk: _Check) -> None:
    walk.weight += _length(block.get("alt_text"), f"{where} alt_text", limits.ALT_TEXT)
    _url(block.get("image_url"), where)


def _divider(block: Json, where: str, walk: _Check) -> None:
    """A divider has nothing to check beyond its kind."""


def _actions(block: Json, where: str, walk: _Check) -> None:
    seen: set[str] = set()
    for element in _list(block.get("elements"), where, limits.ACTIONS):
        _control(element, where, walk)
        name = element.get("action_id", "")
        if name and name in seen:
            raise MessageInvalid(f"{where}: action_id {name!r} stands twice")
        seen.add(name)


def _input(block: Json, where: str, walk: _Check) -> None:
    if not walk.in_view:
        raise MessageInvalid(f"{where}: an input belongs in a view")
    walk.weight += _plain(block.get("label"), f"{where} label", limits.INPUT_LABEL)
    if "hint" in block:
        walk.weight += _plain(block["hint"], f"{where} hint", limits.INPUT_LABEL)
    _control(block.get("element"), where, walk)


def _control(element: object, where: str, walk: _Check) -> None:
    kind = _kind(element)
    check = _CONTROLS.get(kind) if isinstance(kind, str) else None
    if check is None or not isinstance(element, Mapping):
        raise MessageInvalid(f"{where}: control {kind!r} is not one of {', '.join(sorted(_CONTROLS))}")
    _identifier(element, "action_id", where)
    walk.weight += limits.FRAME
    check(element, f"{where} {kind}", walk)


def _button(element: Json, where: str, walk: _Check) -> None:
    walk.weight += _plain(element.get("text"), where, limits.BUTTON_TEXT)
    if "value" in element:
        walk.weight += _length(element["value"], f"{where} value", limits.BUTTON_VALUE)
    if "url" in element:
        _url(element["url"], where)
    if "accessibility_label" in element:
        _length(element["accessibility_label"], f"{where} accessibility_label", limits.LABEL)


def _select(element: Json, where: str, walk: _Check) -> None:
    if "placeholder" in element:
        _plain(element["placeholder"], f"{where} placeholder", limits.PLACEHOLDER)
    for option in _list(element.get("options"), f"{where} options", limits.OPTIONS):
        if not isinstance(option, Mapping):
            raise MessageInvalid(f"{where}: an option is no object")
        walk.weight += limits.FRAME + _plain(option.get("text"), f"{where} option", limits.OPTION_TEXT)
        _length(option.get("value"), f"{where} option value", limits.OPTION_VALUE)


def _overflow(element: Json, where: str, walk: _Check) -> None:
    _select(element, where, walk)
    if len(element["options"]) > 5:  # noqa: PLR2004 - Slack's number, used here only
        raise MessageInvalid(f"{where}: {len(element['options'])} options, at most 5")


def _text_input(element: Json, where: str, walk: _Check) -> None:
    if "placeholder" in element:
        walk.weight += _plain(element["placeholder"], f"{where} placeholder", limits.PLACEHOLDER)


def _rich_text(block: Json, where: str, walk: _Check) -> None:
    length = 0
    for element in _list(block.get("elements"), where):
        kind = _kind(element)
        if kind == "rich_text_list":
            if element.get("style") not in ("ordered", "bullet"):
                raise MessageInvalid(f"{where}: a list is ordered or bullet, not {element.get('style')!r}")
            for item in _list(element.get("elements"), f"{where} list"):
                if _kind(item) != "rich_text_section":
                    raise MessageInvalid(f"{where}: an item of a list must be a rich_text_section")
                length += _inline(item.get("elements"), where, walk)
        elif kind in ("rich_text_section", "rich_text_quote", "rich_text_preformatted"):
            length += _inline(element.get("elements"), where, walk)
        else:
            raise MessageInvalid(f"{where}: element {kind!r} is no section, list, quote or preformatted")
    if length > limits.RICH_TEXT:
        raise MessageInvalid(f"{where}: {length} characters, at most {limits.RICH_TEXT}")


def _inline(elements: object, where: str, walk: _Check) -> int:
    """The measure of a line of rich text. Its texts are measured together: most messages are a line of many."""
    texts: list[str] = []
    for element in _list(elements, where):
        kind = _kind(element)
        if kind == "text":
            text = element.get("text")
        elif kind == "link":
            _url(element.get("url"), where)
            walk.weight += len(element["url"])
            text = element.get("text", element["url"])
        elif kind in ("user", "channel"):
            text = element.get(f"{kind}_id")
            if text not in walk.mentions:
                raise MessageInvalid(f"{where}: names {text!r}; only our own words may mention somebody")
        elif kind == "emoji":
            text = element.get("name")
        else:
            raise MessageInvalid(f"{where}: {kind!r} is no text, link or emoji")
        if not isinstance(text, str) or not text:
            raise MessageInvalid(f"{where}: a {kind} without text")
        if "style" in element and not _TEXT_STYLES.issuperset(element["style"]):
            raise MessageInvalid(f"{where}: style {element['style']!r} has a name Slack does not know")
        texts.append(text)
    length = limits.measure("".join(texts))
    walk.weight += length + limits.FRAME * len(texts)
    return length


def _list(value: object, where: str, most: int | None = None, *, least: int = 1) -> Iterable[Any]:
    if not isinstance(value, (list, tuple)):
        raise MessageInvalid(f"{where}: wants a list")
    if len(value) < least:
        raise MessageInvalid(f"{where}: is empty")
    if most is not None and len(value) > most:
        raise MessageInvalid(f"{where}: {len(value)}, at most {most}")
    return value


_Checker = Callable[[Json, str, _Check], None]

_BLOCKS: Final[Mapping[str, _Checker]] = {
    "rich_text": _rich_text,
    "header": _header,
    "section": _section,
    "context": _context,
    "actions": _actions,
    "divider": _divider,
    "image": _image,
    "input": _input,
}
_CONTROLS: Final[Mapping[str, _Checker]] = {
    "button": _button,
    "static_select": _select,
    "overflow": _overflow,
    "plain_text_input": _text_input,
}
