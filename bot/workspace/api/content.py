"""What a message may contain: text, blocks, metadata. Shared by `chat.*` and response URLs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.workspace.api.call import Call
from bot.workspace.blocks.complete import complete_blocks
from bot.workspace.blocks.layout import TEXT_TOTAL, check_blocks, text_length
from bot.workspace.errors import SlackError

LONGEST_TEXT = 40_000
LONGEST_UPDATE = 4_000
LONGEST_MARKDOWN = 12_000
MOST_ATTACHMENTS = 100
# Not documented as a number; far above what anybody should put there.
LARGEST_METADATA = 16_000


def accept_blocks(blocks: Any) -> list[Any]:
    """The blocks with IDs. Raises `invalid_blocks_format`, `invalid_blocks`, `msg_blocks_too_long`."""
    if not isinstance(blocks, list):
        raise SlackError("invalid_blocks_format")
    problems = check_blocks(blocks, "message")
    if problems:
        lines = [problem.line("/blocks") for problem in problems]
        raise SlackError(
            "invalid_blocks",
            errors=[line.removeprefix("[ERROR] ") for line in lines],
            response_metadata={"messages": lines},
        )
    if text_length(blocks) > TEXT_TOTAL:
        raise SlackError("msg_blocks_too_long")
    return complete_blocks(blocks)


def accept_metadata(metadata: Any) -> dict[str, Any]:
    """Raises `invalid_metadata_format` (not the two fields), `invalid_metadata_schema` (payload not flat enough)."""
    if not isinstance(metadata, dict) or not metadata.keys() <= {"event_type", "event_payload"}:
        raise SlackError("invalid_metadata_format")
    kind, payload = metadata.get("event_type"), metadata.get("event_payload")
    if not isinstance(kind, str) or not kind or not isinstance(payload, dict):
        raise SlackError("invalid_metadata_format")
    if not all(_is_flat_enough(value) for value in payload.values()):
        raise SlackError("invalid_metadata_schema")
    if len(str(metadata)) > LARGEST_METADATA:
        raise SlackError("metadata_too_large")
    return metadata


def _is_flat_enough(value: Any) -> bool:
    """A plain value, a flat object, or a list of flat objects (MessageMetadata in @slack/types)."""
    if isinstance(value, list):
        return all(map(_is_flat, value))
    return _is_plain(value) or _is_flat(value)


def _is_flat(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_plain(each) for each in value.values())


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)


def written(call: Call) -> dict[str, Any]:
    """The parts of a message that a call names, checked: `text`, `blocks`, `attachments`. Raises `no_text`."""
    content: dict[str, Any] = {}
    blocks = call.structure("blocks", "invalid_blocks_format")
    text = call.text("text")
    markdown = call.text("markdown_text")
    if markdown:
        if text or blocks:
            raise SlackError("markdown_text_conflict")
        if len(markdown) > LONGEST_MARKDOWN:
            raise SlackError("msg_too_long")
        text, blocks = markdown, [{"type": "markdown", "text": markdown}]
    if blocks is not None:
        content["blocks"] = accept_blocks(blocks)
    attachments = call.structure("attachments", "invalid_attachments")
    if attachments is not None:
        content["attachments"] = _accept_attachments(attachments)
    if text is not None:
        content["text"] = text
    if not (content.get("text") or content.get("blocks") or content.get("attachments")):
        raise SlackError("no_text")
    return content


def _accept_attachments(attachments: Any) -> list[dict[str, Any]]:
    if not isinstance(attachments, list) or not all(isinstance(each, dict) for each in attachments):
        raise SlackError("invalid_attachments")
    if len(attachments) > MOST_ATTACHMENTS:
        raise SlackError("too_many_attachments")
    return [
        {
            "id": number,
            "fallback": each.get("text", ""),
            **each,
            **({"blocks": accept_blocks(each["blocks"])} if "blocks" in each else {}),
        }
        for number, each in enumerate(attachments, 1)
    ]


def has_rich_text(document: Mapping[str, Any]) -> bool:
    """True if any block of the message is `rich_text`."""
    return any(block["type"] == "rich_text" for block in document.get("blocks", ()))
