"""Whatever the text: valid, complete, literal, calling nobody."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.errors import MessageInvalid
from bot.model import Message
from bot.render import pieces
from bot.render.checks import check_message
from bot.render.environment import JsonEnvironment, compile_template, render_blocks
from bot.render.guard import check_source
from bot.render.messages import Renderer
from bot.render.templates import VALUES, Templates
from bot.text import vocabulary
from tests.unit.render import nasty

WORDS = vocabulary.load()
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
TEXTS = st.one_of(
    st.text(max_size=300),
    st.lists(st.sampled_from(nasty.TOKENS), max_size=30).map("".join),
    st.integers(min_value=0, max_value=4_000).map(lambda n: "&<中" * n),
)


@pytest.fixture(scope="module")
def renderer():
    return Renderer(vocabulary=WORDS)


@QUICK
@given(title=TEXTS, body=TEXTS, seed=st.integers())
def test_any_text_makes_messages_that_every_judge_accepts(renderer, title, body, seed):
    nasty.render_all(renderer, WORDS, title, body, random.Random(seed))


def test_a_short_run_of_the_fuzzer_finds_nothing(renderer):
    for number in range(60):
        chance = random.Random(f"suite/{number}")
        nasty.render_all(renderer, WORDS, nasty.text(chance, 10), nasty.text(chance), chance)


VALUE = st.recursive(
    st.one_of(TEXTS, st.none(), st.booleans(), st.integers()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=5,
)


@QUICK
@given(value=VALUE)
def test_any_value_in_any_place_of_a_template_gives_the_json_of_that_value(value):
    environment = JsonEnvironment(pieces.template_functions())
    source = '[{"a": {{ v }}, "b": [{{ v }}, "x"], {{ "c" }}: {% if true %}{{ v }}{% endif %}}]'
    check_source(environment, source, template="t", names={"v"})
    compiled = compile_template(environment, source, template="t")
    (block,) = render_blocks(compiled, {"v": value}, template="t")
    expected = cleaned(value)
    assert block == {"a": expected, "b": [expected, "x"], "c": expected}


def cleaned(value):
    if isinstance(value, str):
        return pieces.clean(value)
    if isinstance(value, list):
        return [cleaned(one) for one in value]
    if isinstance(value, dict):
        return {pieces.clean(key): cleaned(one) for key, one in value.items()}
    return value


@pytest.mark.parametrize("name", sorted(VALUES))
@QUICK
@given(text=TEXTS)
def test_any_text_in_any_variable_of_any_template_gives_json(name, text):
    templates = BUILT_IN
    values = dict.fromkeys(VALUES[name], text) | {
        key: [] for key in ("lists", "notes", "carried", "answer", "groups", "more", "hits", "examples")
    }
    values["options"] = [(text, "1")]
    blocks = render_blocks(templates._built_in[name], values, template=name)
    assert isinstance(blocks, tuple)


BUILT_IN = Templates()


@QUICK
@given(value=VALUE)
def test_the_check_of_limits_never_stumbles_over_the_shape_of_blocks(value):
    for block in (value, {"type": "rich_text", "elements": value}, {"type": "actions", "elements": [value]},
                  {"type": "header", "text": value}, {"type": "context", "elements": [value]},
                  {"type": "section", "text": value}, {"type": "section", "accessory": value, "text": value},
                  {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [value]}]},
                  {"type": "rich_text", "elements": [{"type": "rich_text_list", "elements": value}]}):  # fmt: skip
        with pytest.raises(MessageInvalid):
            check_message(Message(text="x", blocks=(block,)))
