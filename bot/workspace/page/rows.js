// One message as a row: picture, name, time, body, reactions, thread bar, tools; and lists of rows kept up to date.
import { archivePath, dayKey, dayName, fullTime, h, icon, languageOf, timeOf } from "./dom.js";
import { glyph } from "./emoji.js";

const signatures = new WeakMap();
const GROUP_SECONDS = 300;
const PILL = 26; // height of a day's name: a later day that has come closer than that lies over the earlier one
const COLOURS = ["#6b5b95", "#3d7f66", "#a0522d", "#2f6690", "#8a4f7d", "#55702f"];

/** Whether Slack wrote it (somebody joined, the topic changed) and not the person it names. */
const isNotice = (message) => /^channel_|^group_/.test(message.subtype ?? "");

export function authorOf(message, people) {
  const known = people.get(message.user) ?? people.get(message.bot_id);
  const name = message.username || message.bot_profile?.name || known?.real_name || known?.name || "Somebody";
  return { id: message.user ?? message.bot_id ?? name, name, isApp: Boolean(message.bot_id || known?.is_bot) };
}

export function avatar(author) {
  if (author.isApp) return h("div", { class: "avatar avatar-app", "aria-hidden": "true" });
  const sum = [...author.id].reduce((total, letter) => total + letter.codePointAt(0), 0);
  const node = h("div", { class: "avatar", "aria-hidden": "true", lang: languageOf(author.name) }, [...author.name][0]?.toUpperCase() ?? "");
  node.style.backgroundColor = COLOURS[sum % COLOURS.length];
  return node;
}

/** Build a row. `context` knows the people, who is looking, where, and what to do on a press. */
export function messageRow(message, context) {
  const { channel, people, me, inThread } = context;
  const author = authorOf(message, people);
  const link = (className) => h("a", { class: className, href: archivePath(channel, message), title: fullTime(message.ts) },
    h("time", { datetime: new Date(Number(message.ts) * 1000).toISOString() }, timeOf(message.ts)));
  const body = h("div", { "data-testid": "message-body" });
  body.innerHTML = message.html;
  for (const node of body.querySelectorAll("[data-user]")) if (node.dataset.user === me.id) node.classList.add("is-me");
  const column = h(
    "div",
    { class: "msg-column" },
    message.ephemeral ? h("div", { class: "only-you" }, "Only visible to you") : null,
    h(
      "div",
      { class: "msg-head" },
      h("span", { class: "msg-author", lang: languageOf(author.name) }, author.name),
      author.isApp ? h("span", { class: "badge" }, "APP") : null,
      link("msg-time"),
    ),
    body,
    reactionBar(message, context),
    inThread ? null : threadBar(message, context),
  );
  const attributes = {
    class: `msg${message.ephemeral ? " is-ephemeral" : ""}${isNotice(message) ? " is-system" : ""}`,
    role: "article",
    tabindex: -1,
    "aria-label": `${author.name}, ${fullTime(message.ts)}`,
    "data-testid": message.ephemeral ? "ephemeral" : isNotice(message) ? "system-message" : "message",
    "data-ts": message.ts,
    "data-channel": channel,
    "data-author": author.id,
  };
  return h("div", attributes, h("div", { class: "msg-gutter" }, link("")), avatar(author), column, tools(message, context));
}

function reactionBar(message, { me, people, onReact }) {
  if (!message.reactions?.length) return null;
  const chips = message.reactions.map((item) => {
    const mine = item.users?.includes(me.id) ?? false;
    const who = (item.users ?? []).map((id) => people.get(id)?.name ?? id).join(", ");
    return h(
      "button",
      {
        type: "button", class: "reaction", "aria-pressed": String(mine), title: who, "data-testid": "reaction", "data-name": item.name,
        "aria-label": `${item.name}, ${item.count}`, onclick: () => onReact(message, item.name, mine),
      },
      h("span", {}, glyph(item.name)),
      h("span", { class: "n" }, String(item.count)),
    );
  });
  return h("div", { class: "reactions" }, ...chips);
}

function threadBar(message, { people, onThread }) {
  if (!message.reply_count) return null;
  const words = message.reply_count === 1 ? "1 reply" : `${message.reply_count} replies`;
  const faces = (message.reply_users ?? []).slice(0, 3).map((id) => avatar(authorOf({ user: id }, people)));
  const last = message.latest_reply ? `Last reply ${dayName(message.latest_reply).replace(/^(T|Y)(oday|esterday)$/, (word) => word.toLowerCase())} at ${timeOf(message.latest_reply)}` : "View thread";
  return h(
    "button",
    { type: "button", class: "thread-bar", "data-testid": "replies", onclick: () => onThread(message.thread_ts ?? message.ts) },
    ...faces,
    h("span", { class: "count" }, words),
    h("span", {}, last),
  );
}

function tools(message, context) {
  // A message that only one person sees has no thread, no reactions and no shortcuts, as in Slack.
  if (message.ephemeral) return null;
  const tool = (name, label, testid, run, popup) => {
    const button = h("button", { type: "button", class: "icon-btn", "aria-label": label, title: label, "data-testid": testid, "aria-haspopup": popup }, icon(name));
    button.addEventListener("click", () => run(button));
    return button;
  };
  return h(
    "div",
    { class: "tools", role: "toolbar", "aria-label": "Message actions" },
    tool("react", "Add reaction", "add-reaction", (button) => context.onPickReaction(message, button), "menu"),
    context.inThread ? null : tool("thread", "Reply in thread", "reply-in-thread", () => context.onThread(message.thread_ts ?? message.ts)),
    tool("more", "More actions", "more-actions", (button) => context.onMore(message, button), "menu"),
  );
}

/** Bring a list of rows up to date, reusing every row that did not change so that focus and open menus survive. */
export function reconcile(log, messages, context) {
  const kept = new Map([...log.children].map((node) => [node.dataset.key, node]));
  const wanted = [];
  let previous = null;
  for (const message of messages) {
    const isRoot = context.inThread && message.ts === context.rootTs;
    if (!context.inThread && (!previous || dayKey(previous.ts) !== dayKey(message.ts))) wanted.push(...divider(kept, message));
    const signature = JSON.stringify(message);
    const key = `${message.ephemeral ? "e" : "m"}${message.ts}`;
    let row = kept.get(key);
    if (!row || signatures.get(row) !== signature) {
      row = messageRow(message, context);
      row.dataset.key = key;
      signatures.set(row, signature);
    }
    row.classList.toggle("is-grouped", !isRoot && belongsTo(previous, message, context));
    wanted.push(row);
    if (isRoot) {
      const count = messages.length - 1;
      if (count > 0) wanted.push(h("div", { class: "reply-count-line", "data-testid": "reply-count" }, count === 1 ? "1 reply" : `${count} replies`));
      previous = null;
    } else previous = message;
  }
  replaceChildrenInPlace(log, wanted);
}

/** Days that stick to the head of the list lie upon each other. Only the last shows: a wider one would look out. */
export function hidePastDays(log) {
  const tops = [...log.querySelectorAll(".day")].map((day) => [day, Math.round(day.getBoundingClientRect().top)]);
  tops.forEach(([day, top], at) => day.classList.toggle("is-past", at + 1 < tops.length && tops[at + 1][1] - top < PILL));
}

function divider(kept, message) {
  const key = `d${dayKey(message.ts)}`;
  const words = dayName(message.ts);
  const node = kept.get(key) ?? h("div", { class: "day", "data-key": key, role: "separator", "data-testid": "day" }, h("span", {}, words));
  node.firstChild.textContent = words;
  const rule = kept.get(`r${key}`) ?? h("hr", { class: "day-rule", "data-key": `r${key}`, "aria-hidden": "true" });
  return [rule, node];
}

function belongsTo(previous, message, { people }) {
  if (!previous || previous.ephemeral || message.ephemeral) return false;
  if (isNotice(previous) !== isNotice(message)) return false;
  return (
    authorOf(previous, people).id === authorOf(message, people).id &&
    dayKey(previous.ts) === dayKey(message.ts) &&
    Number(message.ts) - Number(previous.ts) < GROUP_SECONDS
  );
}

// Moving a node that already stands in its place would take the focus from it.
function replaceChildrenInPlace(parent, wanted) {
  wanted.forEach((node, index) => {
    if (parent.children[index] !== node) parent.insertBefore(node, parent.children[index] ?? null);
  });
  while (parent.children.length > wanted.length) parent.lastChild.remove();
}
