"""What a reader does in the page, in Chromium: asks, opens, saves, shares, replies, reacts."""

from __future__ import annotations

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from bot.readers.answer import Answers
from bot.workspace.server import LocalWorkspace
from tests.e2e.support import (
    FIRST,
    FIRST_ITEMS,
    SECOND,
    Morning,
    MovedClock,
    eventually,
    first_line,
    plain,
    shanghai,
)

ROCM = "稳定 ROCm CI Docker 构建上下文与源码缓存"
SPECULATIVE = "投机解码调度预算自适应，低并发 TTFT 最多降 65%"


@pytest.fixture(scope="module")
def digests(tmp_path_factory):
    """Both seeds delivered on two mornings, and the bot connected. The tests use different entries."""
    folder = tmp_path_factory.mktemp("team")
    clock = MovedClock(shanghai("2026-11-30 08:00"))
    with LocalWorkspace(clock=clock.seconds) as workspace:
        morning = Morning(folder, workspace, clock, f"sqlite:///{folder / 'bot.db'}")
        morning.start()
        morning.drop(FIRST.name, FIRST)
        morning.at("2026-11-30 09:00")
        morning.drop(SECOND.name, SECOND)
        morning.at("2026-12-01 09:00")
        morning.bot.front.start()
        yield morning
        morning.stop()


@pytest.fixture
def page(digests, open_page):
    return open_page(f"{digests.workspace.url}/#{digests.channel.channel_id}")


def messages(page, scope="messages"):
    return page.get_by_test_id(scope).locator('[data-testid="message"], [data-testid="ephemeral"]')


def ask(page, line):
    """Type a command; return the answer that only this reader sees."""
    answers = page.get_by_test_id("messages").get_by_test_id("ephemeral")
    before = answers.count()
    field = page.get_by_test_id("composer-input")
    field.fill(line)
    field.press("Enter")
    notice = page.get_by_test_id("notice")
    eventually(lambda: answers.count() > before or notice.count(), within=10, what=f"an answer to {line}")
    assert notice.count() == 0, notice.inner_text()
    return answers.last


def hits(answer):
    """The titles of a search answer, in order."""
    return answer.locator("ol > li a").all_inner_texts()


def menu_of(message, page):
    message.hover()
    message.get_by_test_id("more-actions").click()
    return page.get_by_test_id("menu")


def entry(page, title):
    """The message of an entry: the one whose own first line is its title."""
    return (
        page.get_by_test_id("messages")
        .locator('[data-testid="message"]')
        .filter(has=page.locator("b, strong").filter(has_text=re.compile(f"^{re.escape(title)}$")))
        .first
    )


def open_first(page, answer):
    """Open the first hit in the modal, by the select or, with one hit, by its button."""
    select = answer.locator("select[data-action-id=entry_open]")
    if select.count():
        select.select_option(index=1)
    else:
        answer.locator("[data-action-id=entry_open]").first.click()
    modal = page.get_by_test_id("modal")
    modal.wait_for(state="visible")
    return modal


def test_the_channel_shows_each_entry_once_under_its_root(page):
    text = page.get_by_test_id("messages").inner_text()
    for item in FIRST_ITEMS:
        assert item.title in text
    assert "精读" in text


def test_one_day_at_a_time_stands_at_the_head_of_the_channel(page):
    page.set_viewport_size({"width": 1200, "height": 500})
    log = page.get_by_test_id("messages")
    shown = "all => all.filter(day => getComputedStyle(day).opacity > 0).map(day => day.textContent)"
    days = log.get_by_test_id("day")
    assert days.count() == 2
    log.evaluate("log => { log.scrollTop = 0; }")
    eventually(lambda: len(days.evaluate_all(shown)) == 2, within=5, what="both days")
    log.evaluate("log => { log.scrollTop = log.scrollHeight; }")
    eventually(lambda: len(days.evaluate_all(shown)) == 1, within=5, what="the last day alone")


def test_vllm_rocm_typed_in_the_page_lists_the_entry_with_rocm_in_its_title_first(page):
    assert hits(ask(page, "/digest vllm rocm"))[0] == ROCM


def test_an_answer_that_only_one_person_sees_stays_until_the_page_is_loaded_again(page, digests):
    ask(page, "/digest vllm rocm")
    answers = page.get_by_test_id("messages").get_by_test_id("ephemeral")
    for place in (digests.ops, digests.channel):
        page.locator(f'[data-testid="channel"][data-channel="{place.channel_id}"]').click()
        eventually(lambda place=place: answers.count() == (place is digests.channel), within=5)
    page.reload()
    page.wait_for_selector('[data-testid="app"][data-ready="true"]')
    assert messages(page).count() > 0
    assert answers.count() == 0


def test_speculative_decoding_is_found_in_chinese(page):
    assert SPECULATIVE in hits(ask(page, "/digest 投机解码"))


def test_speculative_decoding_is_found_in_english(page):
    assert SPECULATIVE in hits(ask(page, "/digest speculative decoding"))


def test_a_hit_opens_whole_and_once_saved_it_stands_in_the_home_tab_and_in_saved(page):
    modal = open_first(page, ask(page, "/digest canonical_layout"))
    item = FIRST_ITEMS[2]
    assert item.title in modal.inner_text()
    assert item.body in modal.inner_text()
    modal.locator("[data-action-id=entry_save]").click()
    modal.locator("[data-action-id=entry_unsave]").wait_for()
    page.keyboard.press("Escape")
    modal.wait_for(state="hidden")

    assert item.title in ask(page, "/digest saved").inner_text()

    page.get_by_test_id("app-home").click()
    home = page.get_by_test_id("home")
    home.get_by_text("收藏 · 1 条").wait_for()
    assert item.title in home.inner_text()
    assert "今天 · 12月1日" in home.inner_text()


def test_a_hit_is_shared_to_the_channel_in_the_readers_name_with_her_words(page, digests):
    before = len(digests.channel.messages())
    modal = open_first(page, ask(page, "/digest free_blocks"))
    modal.locator("[data-action-id=entry_share]").click()
    comment = page.get_by_test_id("modal").locator("[data-action-id=share_comment]")
    comment.wait_for()
    comment.fill("这条和我们有关 <!channel>")
    page.get_by_test_id("modal").locator("[data-modal=submit]").click()
    shared = eventually(lambda: digests.channel.messages()[before:], what="the shared entry")[-1]
    assert FIRST_ITEMS[0].title in plain(shared)
    assert "这条和我们有关 <!channel>" in plain(shared)
    assert "<!channel>" not in shared["text"], "nobody is called by somebody's comment"
    assert digests.workspace.user_id("reader") in str(shared["blocks"]) or "reader" in plain(shared)
    page.get_by_text("这条和我们有关").first.wait_for()


def test_a_reply_in_a_thread_and_a_reaction_are_counted_on_the_next_search_with_a_link_to_the_thread(page, digests):
    title = "修复 chat completion 非对象 JSON body 返回 500 的问题"
    (posted,) = [one for one in digests.channel.messages() if first_line(one) == title]
    query = "/digest 非对象"
    assert "回复" not in ask(page, query).inner_text()

    row = page.get_by_test_id("messages").locator(f'[data-ts="{posted["ts"]}"]')
    row.hover()
    row.get_by_test_id("reply-in-thread").click()
    reply = page.get_by_test_id("thread-composer-input")
    reply.fill("我们也踩过")
    reply.press("Enter")
    page.get_by_test_id("thread-messages").get_by_text("我们也踩过").wait_for()
    page.get_by_test_id("thread-close").click()
    eventually(lambda: "1 条回复" in ask(page, query).inner_text(), what="the reply on the hit")

    row.hover()
    row.get_by_test_id("add-reaction").click()
    page.get_by_test_id("menu").locator("button").first.click()
    row.get_by_test_id("reaction").wait_for()
    eventually(lambda: "1 个表情" in ask(page, query).inner_text(), what="the reaction on the hit")

    counted = ask(page, query)
    assert digests.channel.permalink(posted["ts"]) in counted.locator("a").evaluate_all("all => all.map(a => a.href)")
    counted.locator("a", has_text=title).first.click()
    page.get_by_test_id("messages").locator(f'[data-ts="{posted["ts"]}"].is-target').wait_for()
    page.get_by_test_id("thread-messages").get_by_text("我们也踩过").wait_for()


def is_in_sight(row):
    """Whether a row of a list is within the part of the list that is shown."""
    return row.evaluate(
        """row => {
          const [at, list] = [row, row.closest('.log')].map(node => node.getBoundingClientRect());
          return at.bottom > list.top && at.top < list.bottom;
        }"""
    )


def test_the_way_to_the_discussion_opens_the_thread_to_write_in_also_where_nobody_has_replied(page, digests):
    title = SPECULATIVE
    (posted,) = [one for one in digests.channel.messages() if first_line(one) == title]
    modal = open_first(page, ask(page, "/digest 投机解码 预算"))
    assert title in modal.inner_text()
    modal.locator("a", has_text="去讨论").click()
    modal.wait_for(state="hidden")
    thread = page.get_by_test_id("thread-messages")
    thread.locator(f'[data-ts="{posted["ts"]}"].is-target').wait_for()
    assert thread.get_by_test_id("message").count() == 1
    row = page.get_by_test_id("messages").locator(f'[data-ts="{posted["ts"]}"].is-target')
    row.wait_for()
    assert is_in_sight(row)
    page.keyboard.type("预算怎么定？")
    page.keyboard.press("Enter")
    eventually(lambda: [plain(one) for one in digests.channel.replies(posted["ts"])] == ["预算怎么定？"])
    assert page.get_by_test_id("notice").count() == 0
    left = digests.workspace.act("reader", lambda person: person.workspace.modals.stack(person.user))
    assert left == (), "who has gone on to the discussion has left the modal"


def test_a_modal_does_not_come_back_when_the_page_is_loaded_again(page):
    modal = open_first(page, ask(page, "/digest vllm rocm"))
    # Whoever closes it and reloads at once may have told nobody yet.
    page.route("**/_page/view_close", lambda route: route.abort())
    page.keyboard.press("Escape")
    modal.wait_for(state="hidden")
    page.unroute("**/_page/view_close")
    page.reload()
    page.wait_for_selector('[data-testid="app"][data-ready="true"]')
    assert not modal.is_visible()
    assert ROCM in open_first(page, ask(page, "/digest vllm rocm")).inner_text(), "the next one opens all the same"


@pytest.fixture
def talk(digests):
    """A thread of thirty replies in another channel; the head of it, the replies, a message without any."""
    place = digests.ops.channel_id
    workspace = digests.workspace

    def say(text, thread_ts=None):
        message = workspace.act("colleague", lambda person: person.say(place, text, thread_ts=thread_ts))
        return f"{message.ts // 10**6}.{message.ts % 10**6:06}"

    head = say("What happened here?")
    replies = [say(f"Reply {number}. " + "It is long. " * 20, head) for number in range(30)]
    return head, replies, say("Nobody has answered this")


def test_a_link_to_a_message_shows_it_and_its_thread_where_there_is_one(page, digests, talk):
    head, replies, alone = talk
    page.set_viewport_size({"width": 1200, "height": 500})
    log, thread = page.get_by_test_id("messages"), page.get_by_test_id("thread-messages")

    def follow(address):
        page.goto(address)
        page.wait_for_selector('[data-testid="app"][data-ready="true"]')

    follow(digests.ops.permalink(alone))
    log.locator(f'[data-ts="{alone}"].is-target').wait_for()
    assert not thread.is_visible()

    follow(digests.ops.permalink(head))
    thread.locator(f'[data-ts="{head}"].is-target').wait_for()
    assert is_in_sight(thread.locator(f'[data-ts="{head}"]')), "and not at the thread's end"
    assert is_in_sight(log.locator(f'[data-ts="{head}"]'))

    for address in (digests.ops.permalink(replies[10]), digests.ops.permalink(replies[10]).partition("?")[0]):
        follow(address)
        thread.locator(f'[data-ts="{replies[10]}"].is-target').wait_for()
        assert is_in_sight(thread.locator(f'[data-ts="{replies[10]}"]'))
        assert not is_in_sight(thread.locator(f'[data-ts="{replies[-1]}"]'))
        assert is_in_sight(log.locator(f'[data-ts="{head}"]'))

    own = thread.locator(f'[data-ts="{replies[10]}"] .msg-time').get_attribute("href")
    assert digests.ops.permalink(replies[10]).endswith(own), "a reply's own address names its thread"
    # What is written now belongs to the thread, not to the reply that was linked to.
    field = page.get_by_test_id("thread-composer-input")
    field.fill("So that was it")
    field.press("Enter")
    log.locator(f'[data-ts="{head}"]').get_by_text("31 replies").wait_for()


def test_the_message_shortcut_saves_the_entry_under_the_pointer(page):
    title = "升级 MiniJinja 至 2.22，删除 TemplateMap 绕行方案"
    answers = page.get_by_test_id("messages").get_by_test_id("ephemeral")
    before = answers.count()
    menu = menu_of(entry(page, title), page)
    menu.locator("[data-callback-id=entry_save]").click()
    eventually(lambda: answers.count() > before, what="word that it is saved")
    assert "已收藏" in answers.last.inner_text()
    assert title in ask(page, "/digest saved").inner_text()


def open_home(page, digests):
    """Open the Home tab and wait until the app has drawn it anew."""
    workspace = digests.workspace
    before = len(workspace.calls(method="views.publish"))
    page.get_by_test_id("app-home").click()
    eventually(lambda: len(workspace.calls(method="views.publish")) > before, what="a new Home tab")
    # News arrives in order: when the page knows of a later message, it has drawn what came before.
    workspace.act("colleague", lambda person: person.say(digests.ops.channel_id, "later"))
    page.locator('[data-testid="channel"][data-name="ops"].is-unread').wait_for()
    return page.get_by_test_id("home")


def test_the_home_tab_searches(page, digests):
    field = open_home(page, digests).locator("[data-action-id=home_search]")
    field.fill("rocm")
    field.press("Enter")
    page.get_by_test_id("modal").locator("a", has_text=ROCM).wait_for()


def test_nothing_found_says_how_often_each_word_stands_alone(page):
    text = ask(page, "/digest rocm kubernetes").inner_text()
    assert "没有结果" in text
    assert re.search(r"kubernetes 0 条", text)
    assert re.search(r"rocm [1-9]", text)


def test_help_shows_lines_that_can_be_typed(page):
    answer = ask(page, "/digest help")
    assert "/digest" in answer.inner_text()
    examples = [line for line in answer.locator("code").all_inner_texts() if not line.startswith("/")]
    assert len(examples) >= 4
    for line in examples:
        assert "没有结果" not in ask(page, f"/digest {line}").inner_text(), line


def test_the_next_page_begins_where_the_first_ended(page):
    answer = ask(page, "/digest vllm 值得")
    first = hits(answer)
    assert len(first) == 5
    answer.locator("[data-action-id=search_next]").click()
    latest = page.get_by_test_id("messages").get_by_test_id("ephemeral").last
    eventually(lambda: hits(latest) != first, what="the next page")
    second = hits(latest)
    assert 1 <= len(second) <= 5
    assert not set(first) & set(second)


def test_digest_alone_shows_the_latest_edition_of_the_channel(page):
    text = ask(page, "/digest").inner_text()
    assert "12月1日" in text
    assert "Rust 前端新增 ResolvedToolContext" in text


def test_a_command_typed_in_a_thread_is_refused_as_in_slack(page, digests):
    posted = digests.channel.messages()[1]
    row = page.get_by_test_id("messages").locator(f'[data-ts="{posted["ts"]}"]')
    row.hover()
    row.get_by_test_id("reply-in-thread").click()
    reply = page.get_by_test_id("thread-composer-input")
    reply.fill("/digest rocm")
    reply.press("Enter")
    assert "not supported in threads" in page.get_by_test_id("notice").inner_text()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone_shows_the_channel_without_scrolling_sideways(digests, open_page, theme):
    page = open_page(f"{digests.workspace.url}/?theme={theme}", viewport={"width": 390, "height": 844})
    ask(page, "/digest vllm")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.get_by_test_id("messages").evaluate("one => one.scrollWidth - one.clientWidth") <= 0


# --- without the browser: many at once --------------------------------------------------------------------------------


def test_eight_slow_commands_at_once_are_each_acknowledged_in_time_and_answered(digests, monkeypatch):
    released = threading.Event()
    search = Answers.search
    begun = []

    def slow(self, *args, **kwargs):
        begun.append(1)
        assert released.wait(20)
        return search(self, *args, **kwargs)

    monkeypatch.setattr(Answers, "search", slow)
    workspace, channel = digests.workspace, digests.channel.channel_id
    before = len(workspace.ephemerals(channel, "colleague"))

    def command(number: int) -> float:
        start = time.monotonic()
        workspace.act("colleague", lambda person: person.type(channel, f"/digest rocm {'ci ' * number}"))
        return time.monotonic() - start

    try:
        with ThreadPoolExecutor(8) as pool:
            seconds = list(pool.map(command, range(8)))  # raises where a command timed out
        assert max(seconds) < 3
        assert len(workspace.ephemerals(channel, "colleague")) == before, "none has its answer yet"
    finally:
        released.set()
    eventually(lambda: len(workspace.ephemerals(channel, "colleague")) == before + 8, what="eight answers")
    assert all(ROCM in plain(one) for one in workspace.ephemerals(channel, "colleague")[before:])


def test_a_command_from_a_direct_message_is_answered_there(digests):
    workspace = digests.workspace
    direct = workspace.act(
        "reader",
        lambda person: person.workspace.store.open_im(
            person.user, person.workspace.store.bot_user, person.workspace.clock()
        ),
    ).id
    workspace.act("reader", lambda person: person.type(direct, "/digest rocm"))
    eventually(lambda: workspace.ephemerals(direct, "reader"), what="the answer")
    assert ROCM in plain(workspace.ephemerals(direct, "reader")[-1])
