"""The renderer shows every character of a message and lets none of them become markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.workspace.html import (
    PlainResolver,
    page,
    render_blocks,
    render_message,
    render_row,
    render_view,
    visible_text,
)
from bot.workspace.html.visible import characters_of

WHO = PlainResolver()

TAGS = frozenset(
    {"a", "article", "b", "blockquote", "br", "button", "code", "details", "div", "fieldset", "footer", "form"}
    | {"h2", "h3", "h4", "header", "hr", "i", "input", "label", "legend", "li", "ol", "optgroup", "option", "pre"}
    | {"s", "select", "span", "summary", "table", "tbody", "td", "textarea", "time", "tr", "u", "ul"}
)
ATTRIBUTES = frozenset(
    {"aria-hidden", "aria-label", "autocomplete", "checked", "class", "data-action-id", "data-block-id"}
    | {"data-chosen", "data-confirm", "data-dispatch", "data-modal", "data-open-channel", "data-option"}
    | {"data-source", "data-testid", "data-triggers", "data-type", "data-user", "data-value", "datetime"}
    | {"disabled", "hidden", "href", "label", "lang", "max", "maxlength", "min", "minlength", "name"}
    | {"placeholder", "rel", "role", "rows", "selected", "start", "step", "style", "tabindex", "target", "type"}
    | {"value"}
)
VOID = frozenset({"br", "hr", "input"})


class Judge(HTMLParser):
    """Refuses any tag, attribute, address or nesting that the renderer has no reason to write."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        for name, value in attrs:
            assert name in ATTRIBUTES
            if name == "href":
                assert re.match(r"(https?://|mailto:)", value or "", re.IGNORECASE)
            if name == "style":
                assert re.fullmatch(r"background-color:#[0-9A-Fa-f]{6}", value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)


def judged(html: str) -> str:
    judge = Judge()
    judge.feed(html)
    judge.close()
    assert judge.open == []
    return html


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}


def mrkdwn(text: str) -> str:
    return judged(render_blocks([{"type": "section", "text": {"type": "mrkdwn", "text": text}}], WHO))


def rich(*elements: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": list(elements)}]}]


# Everything JSON can carry except what no page can show (NUL, lone surrogates).
texts = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1)
hostile = st.one_of(
    texts,
    st.text(alphabet="<>&\"'`*_~:|!@#/\\ ax中，\n", min_size=1),
    st.sampled_from(
        ["<script>alert(1)</script>", "</div>", '" onclick="x', "javascript:x", "<!--", "]]>", "&lt;b&gt;", "&#60;"]
    ),
)


@given(texts)
def test_a_text_element_shows_exactly_its_characters(text: str) -> None:
    assert visible_text(rich({"type": "text", "text": text})) == text


@given(st.lists(texts, min_size=1, max_size=5), st.sampled_from(["ordered", "bullet"]))
def test_list_items_show_their_characters_on_lines_of_their_own(items: list[str], style: str) -> None:
    sections = [{"type": "rich_text_section", "elements": [{"type": "text", "text": item}]} for item in items]
    block = {"type": "rich_text", "elements": [{"type": "rich_text_list", "style": style, "elements": sections}]}
    assert visible_text([block]) == "\n".join(items)


@given(texts, st.fixed_dictionaries({name: st.booleans() for name in ("bold", "italic", "strike", "code")}))
def test_styles_change_the_look_and_never_the_characters(text: str, style: dict[str, bool]) -> None:
    assert visible_text(rich({"type": "text", "text": text, "style": style})) == text


@given(texts)
def test_plain_text_is_literal_wherever_it_stands(text: str) -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": plain(text)},
        {"type": "context", "elements": [plain(text)]},
        {"type": "actions", "elements": [{"type": "button", "action_id": "a", "text": plain(text)}]},
    ]
    assert visible_text(blocks) == "\n".join([text] * 3)


# A line break, a space or a marker would be markup; everything else has to come out as it went in.
@given(st.text(st.characters(exclude_characters="\x00\n\r*_~`<>&:", exclude_categories=["Cs"]), min_size=1))
def test_mrkdwn_without_markers_shows_exactly_its_characters(text: str) -> None:
    assert characters_of(mrkdwn(text)) == text


@given(hostile, hostile)
@settings(max_examples=150)
def test_no_text_can_bring_markup_of_its_own(text: str, other: str) -> None:
    option = {"text": plain(text), "value": other, "description": plain(other)}
    link = {"type": "link", "url": other, "text": text}
    named = {"action_id": text, "placeholder": plain(other), "options": [option]}
    blocks: list[dict[str, Any]] = [
        *rich({"type": "text", "text": text}, link, {"type": "emoji", "name": text, "unicode": other}),
        *rich({"type": "user", "user_id": text}, {"type": "channel", "channel_id": other}),
        *rich({"type": "broadcast", "range": text}, {"type": "color", "value": other}, {"type": text}),
        *rich({"type": "date", "timestamp": 0, "format": other, "url": other, "fallback": text}),
        {"type": "section", "block_id": other, "text": {"type": "mrkdwn", "text": text}},
        {"type": "section", "text": {"type": "mrkdwn", "text": f"*{text}* <{other}|{text}> `{other}`"}},
        {"type": "markdown", "text": f"# {text}\n- [{text}]({other})\n\n{other}"},
        {"type": "image", "image_url": other, "alt_text": text, "title": plain(other)},
        {"type": "actions", "elements": [{"type": "button", "action_id": text, "text": plain(other), "url": other}]},
        {
            "type": "actions",
            "elements": [named | {"type": kind} for kind in ("static_select", "overflow", "checkboxes")],
        },
        {
            "type": "input",
            "label": plain(text),
            "element": named | {"type": "plain_text_input", "initial_value": other},
        },
        {"type": text},
    ]
    judged(render_blocks(blocks, WHO))
    judged(render_row({"text": text, "username": other, "ts": other, "response_type": "ephemeral"}, WHO))
    judged(render_view({"type": "modal", "title": plain(text), "submit": plain(other), "blocks": blocks}, WHO))


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("*bold* _it_ ~gone~ `code`", "<b>bold</b> <i>it</i> <s>gone</s> <code>code</code>"),
        ("(*bold*), *a*.", "(<b>bold</b>), <b>a</b>."),
        ("*a _b_ c*", "<b>a <i>b</i> c</b>"),
        ("`*a*`", "<code>*a*</code>"),
        ("中文*粗体*中文 中`码`文", "中文*粗体*中文 中`码`文"),
        ("*粗体*，后面", "*粗体*，后面"),
        ("*粗体* 后面", "<b>粗体</b> 后面"),
        ("snake_case_name 2*3*4 a~b~c", "snake_case_name 2*3*4 a~b~c"),
        ("* a * ** * _ _", "* a * ** * _ _"),
        ("*a\nb*", "*a<br>b*"),
        ("&lt;b&gt; &amp;lt; &quot;", "&lt;b&gt; &amp;lt; &amp;quot;"),
        (":tada: a:100x :unknown_name:", "🎉 a:100x :unknown_name:"),
        ("<javascript:alert(1)|press>", "press"),
    ],
)
def test_mrkdwn_markers_count_only_at_half_width_boundaries(source: str, shown: str) -> None:
    assert f'<div class="rt-section">{shown}</div>' in mrkdwn(source)


def test_mrkdwn_links_and_mentions_get_names() -> None:
    html = mrkdwn("<https://a.example/?x=1&amp;y=2|read *this*> <@U1> <#C1|general> <!here> <!date^0^{date}|1 Jan>")
    assert 'href="https://a.example/?x=1&amp;y=2"' in html
    assert characters_of(html) == "read *this* @U1 #general @here 1 Jan"


def test_mrkdwn_quotes_and_fences_keep_their_lines() -> None:
    html = mrkdwn("before\n&gt; one\n&gt; two\nafter\n```x &lt; 1\n*y*```\nend")
    assert '<blockquote class="rt-quote">one<br>two</blockquote>' in html
    assert "<code>x &lt; 1\n*y*</code>" in html
    assert characters_of(html) == "before\none\ntwo\nafter\nx < 1\n*y*\nend"


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//evil", " https://a b", "ftp://a", ""])
def test_a_link_that_is_not_web_or_mail_is_only_its_words(url: str) -> None:
    html = judged(render_blocks(rich({"type": "link", "url": url, "text": "words"}), WHO))
    assert "href" not in html
    assert characters_of(html) == "words"


def test_ordered_lists_go_on_where_the_one_before_ended() -> None:
    part = {"type": "rich_text_list", "style": "ordered", "indent": 1, "offset": 2, "border": 1, "elements": []}
    html = render_blocks([{"type": "rich_text", "elements": [part]}], WHO)
    assert html.endswith('<ol class="rt-list indent-1 has-border" start="3"></ol></div></div>')


def test_an_emoji_is_its_characters_and_an_unknown_one_its_name() -> None:
    blocks = rich(
        {"type": "emoji", "name": "family", "unicode": "1f468-200d-1f469"},
        {"type": "emoji", "name": "our_logo"},
        {"type": "emoji", "name": "broken", "unicode": "zz-110000"},
    )
    assert visible_text(blocks) == "👨\u200d👩:our_logo::broken:"


def test_chinese_japanese_and_korean_get_the_glyphs_of_their_readers() -> None:
    def lang(text: str) -> str:
        html = render_message({"blocks": rich({"type": "text", "text": text})}, WHO)
        found = re.match(r'<div class="msg-body"(?: lang="([^"]+)")?>', html)
        assert found
        return found[1] or ""

    assert [lang("直す"), lang("修复"), lang("고치다"), lang("mend")] == ["ja", "zh-Hans", "ko", ""]


def test_a_closed_menu_shows_its_placeholder_and_keeps_its_options() -> None:
    options = [{"text": plain("first"), "value": "1"}, {"text": plain("second"), "value": "2"}]
    menu = {"type": "static_select", "action_id": "open", "placeholder": plain("Read…"), "options": options}
    html = judged(render_blocks([{"type": "actions", "block_id": "b", "elements": [menu]}], WHO))
    assert characters_of(html) == "Read…"
    assert '<option value="2">second</option>' in html
    assert 'data-block-id="b"' in html
    assert 'data-action-id="open"' in html


def test_a_button_says_what_it_is_to_those_who_hear_it() -> None:
    button = {
        "type": "button",
        "action_id": "entry_open",
        "text": plain("读全文"),
        "value": "e1",
        "style": "danger",
        "accessibility_label": "读全文：标题",
        "confirm": {"title": plain("Sure?"), "text": plain('"yes"')},
    }
    html = judged(render_blocks([{"type": "actions", "elements": [button]}], WHO))
    assert 'aria-label="读全文：标题"' in html
    assert 'class="btn btn-danger"' in html
    assert "&quot;title&quot;: &quot;Sure?&quot;" in html


def test_an_image_is_never_fetched() -> None:
    block = {"type": "image", "image_url": "https://a.example/x.png", "alt_text": "A chart"}
    html = judged(render_blocks([block], WHO))
    assert "a.example" not in html
    assert characters_of(html) == "A chart"


def test_what_is_not_known_leaves_a_note_and_not_a_hole() -> None:
    assert visible_text([{"type": "hologram"}]) == "[block not shown here: hologram]"
    assert "[rich text element not shown here: smell]" in visible_text(rich({"type": "smell"}))


def test_a_message_without_blocks_shows_its_text() -> None:
    html = judged(render_message({"text": "*hello* <@U1>", "user": "U1", "edited": {"ts": "1"}}, WHO))
    assert characters_of(html) == "hello @U1\n(edited)"


def test_a_row_marks_apps_and_private_answers() -> None:
    html = judged(render_row({"text": "x", "bot_id": "B1", "ephemeral": True, "ts": "1796173200.000100"}, WHO))
    assert characters_of(html).split("\n") == ["Only visible to you", "B1APP01:00", "x"]


def test_a_modal_has_a_title_and_both_its_buttons() -> None:
    view = {"type": "modal", "title": plain("导读"), "close": plain("关闭"), "submit": plain("搜索"), "blocks": []}
    html = judged(render_view(view, WHO))
    assert '<h2 class="modal-title" lang="zh-Hans">导读</h2>' in html
    assert html.count('data-modal="close"') == 2
    assert 'type="submit"' in html


def test_markdown_blocks_show_the_common_constructs() -> None:
    source = (
        "## Title\n\n- **bold** and `code`\n- [site](https://a.example)\n\n1. one\n\n> quoted\n\n---\n```py\nx < 1\n```"
    )
    html = judged(render_blocks([{"type": "markdown", "text": source}], WHO))
    assert "<b>bold</b> and <code>code</code>" in html
    assert characters_of(html) == "Title\nbold and code\nsite\none\nquoted\nx < 1"


def test_a_preview_page_stands_alone() -> None:
    html = page("<Preview>", render_row({"text": "中文 & text", "bot_id": "B1"}, WHO))
    assert "<title>&lt;Preview&gt;</title>" in html
    assert "<style>" in html
    assert not re.search(r"<script|<link|url\(|@import|src=", html)
