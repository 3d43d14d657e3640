// The workspace as a person sees it. This file joins the parts: what is open, what arrived, what to draw.
import { messageActions, wireMessageKeys } from "./actions.js";
import { makeComposer } from "./composer.js";
import { listenForActions } from "./controls.js";
import { $, h, icon, languageOf, parseArchive } from "./dom.js";
import { closeMenu, dressSelects, isMenuOpen } from "./menu.js";
import { addressFor, applyTheme, follow, get, post, userName } from "./net.js";
import { authorOf, hidePastDays, reconcile } from "./rows.js";
import { channelMark, drawSidebar, wireDrawer, wireUserSwitch } from "./sidebar.js";
import { makeHome, makeModals } from "./views.js";

applyTheme();

const state = { channel: null, isHome: false, messages: [], rootTs: null, replies: [], unread: new Set() };
const people = new Map();
let boot = null;
let modals, home, actions, composer, threadComposer, closeDrawer;

const log = $("messages");
const threadLog = $("thread-messages");
const byTs = (a, b) => Number(a.ts) - Number(b.ts) || a.ts.localeCompare(b.ts);
const channelById = (id) => boot.channels.find((channel) => channel.id === id);

function notify(answer) {
  const words = answer.message || `The workspace answered “${answer.error}”.`;
  const box = h("div", { class: "notice", "data-testid": "notice" }, h("span", {}, words));
  box.append(h("button", { type: "button", class: "icon-btn", "aria-label": "Dismiss", onclick: () => box.remove() }, icon("close")));
  $("notices").replaceChildren(box);
}

// ---- drawing ----

function context(inThread) {
  return {
    channel: state.channel, people, me: boot.me, inThread, rootTs: state.rootTs, onThread: openThread,
    onReact: actions.react, onPickReaction: actions.pickReaction, onMore: actions.more,
  };
}

const nearBottom = (node) => node.scrollHeight - node.scrollTop - node.clientHeight < 80;

function drawLog({ toBottom = false } = {}) {
  const follows = toBottom || nearBottom(log);
  if (state.messages.length) reconcile(log, state.messages, context(false));
  else {
    const name = spokenName(channelById(state.channel));
    log.replaceChildren(h("div", { class: "empty" }, h("strong", { lang: languageOf(name) }, name), "This is the very beginning. Nothing has been posted yet."));
  }
  keepTabStop(log);
  if (follows) log.scrollTop = log.scrollHeight;
  hidePastDays(log);
}

function drawThread({ toBottom = false } = {}) {
  const follows = toBottom || nearBottom(threadLog);
  reconcile(threadLog, state.replies, context(true));
  keepTabStop(threadLog);
  if (follows) threadLog.scrollTop = threadLog.scrollHeight;
}

function keepTabStop(list) {
  if (!list.querySelector('.msg[tabindex="0"]')) [...list.querySelectorAll(".msg")].at(-1)?.setAttribute("tabindex", "0");
}

/** `#name`, or the bare name of a person. */
function spokenName(channel) {
  return channel ? `${channel.is_im ? "" : "#"}${channel.name}` : "";
}

function drawHead() {
  const channel = channelById(state.channel);
  const title = state.isHome ? (boot.app?.name ?? "App") : (channel?.name ?? "");
  const topic = state.isHome ? "Home" : (channel?.topic?.value ?? channel?.topic ?? "");
  $("view-title").replaceChildren(...(state.isHome ? [] : [h("span", { "aria-hidden": "true" }, channel ? channelMark(channel) : "")]), h("span", { lang: languageOf(title) }, title));
  $("view-topic").textContent = topic;
  $("view-topic").lang = languageOf(topic) ?? "en";
  document.title = `${state.isHome ? title : spokenName(channel)} · ${boot.team?.name ?? "Local workspace"}`;
  $("app-messages").hidden = !state.isHome;
  drawSidebar({ boot, current: state.isHome ? "home" : state.channel, unread: state.unread, openChannel: (id) => openChannel(id), openHome });
}

// ---- going places ----

async function openChannel(id, { ts = null, threadTs = null, keepAddress = false } = {}) {
  closeDrawer();
  closeMenu();
  const moved = state.channel !== id || state.isHome;
  Object.assign(state, { channel: id, isHome: false });
  state.unread.delete(id);
  if (moved) {
    closeThread({ silent: true });
    state.messages = [];
    log.replaceChildren();
    composer.clear();
  }
  const channel = channelById(id);
  for (const [node, shown] of [[log, true], [$("composer"), !channel?.is_archived], [$("home"), false]]) node.hidden = !shown;
  $("home").replaceChildren();
  composer.label(`Message ${spokenName(channel) || id}`);
  drawHead();
  if (!keepAddress) history.replaceState(null, "", addressFor(userName, `#${id}`));
  log.setAttribute("aria-busy", "true");
  await reload({ toBottom: moved });
  log.removeAttribute("aria-busy");
  if (ts) await showPlace(id, ts, threadTs);
}

/** Bring a message into sight, its thread beside it where the address names one or somebody has replied, as in Slack. */
async function showPlace(id, ts, named) {
  const thread = named ?? (await threadOf(id, ts));
  if (id !== state.channel || state.isHome) return;
  if (thread) await openThread(thread, { target: ts });
  showTarget(log, thread ?? ts, { takeFocus: !thread });
}

/** The thread to open for a message: its own if it has replies, that of its parent for a reply. */
async function threadOf(id, ts) {
  const message = state.messages.find((item) => item.ts === ts && !item.ephemeral);
  if (message) return message.reply_count ? ts : null;
  // A reply, whose address need not say so, or a message too old to be listed.
  const answer = await get(`thread/${id}/${ts}`);
  return answer.ok === false || !answer.messages.length ? null : (answer.messages[0].thread_ts ?? answer.messages[0].ts);
}

function showTarget(list, ts, { takeFocus = true } = {}) {
  const row = list.querySelector(`[data-ts="${CSS.escape(ts)}"]`);
  if (!row) return;
  row.scrollIntoView({ block: "center" });
  row.classList.remove("is-target");
  requestAnimationFrame(() => row.classList.add("is-target"));
  if (takeFocus) row.focus({ preventScroll: true });
}

async function openHome() {
  closeDrawer();
  closeThread({ silent: true });
  Object.assign(state, { isHome: true });
  for (const [node, shown] of [[log, false], [$("composer"), false], [$("home"), true]]) node.hidden = !shown;
  history.replaceState(null, "", addressFor(userName, "#home"));
  drawHead();
  await home.load();
}

async function openThread(ts, { target = null } = {}) {
  state.rootTs = ts;
  state.replies = [];
  threadLog.replaceChildren();
  $("app").classList.add("has-thread");
  $("thread").hidden = false;
  $("thread-channel").textContent = spokenName(channelById(state.channel));
  threadComposer.clear();
  threadComposer.label("Reply…");
  await reloadThread({ toBottom: true });
  if (state.rootTs !== ts) return;
  if (target) showTarget(threadLog, target, { takeFocus: target !== ts });
  // Whoever comes for the whole thread comes to write.
  if (!target || target === ts) threadComposer.focus();
}

/** The app's own conversation with this person, made if there is none yet. */
async function openAppMessages() {
  const answer = await post("open_dm", {});
  if (!answer.ok) return notify(answer);
  await refreshBoot();
  return openChannel(answer.channel);
}

function closeThread({ silent = false } = {}) {
  if (!state.rootTs) return;
  const ts = state.rootTs;
  state.rootTs = null;
  state.replies = [];
  $("app").classList.remove("has-thread");
  $("thread").hidden = true;
  if (!silent) log.querySelector(`[data-ts="${CSS.escape(ts)}"]`)?.focus();
}

/** Follow a link to a message of this workspace without leaving the page. */
function followInside(event) {
  const anchor = event.target.closest("a[href]");
  if (!anchor || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  const place = parseArchive(new URL(anchor.href, location.href));
  if (!place || !channelById(place.channel)) return;
  event.preventDefault();
  const tell = anchor.closest("dialog") ? modals.dismiss() : null;
  // The click itself is told to the app as well, from a modal that must still be open then.
  openChannel(place.channel, place).then(tell);
}

// ---- reading what is there ----

async function reload(options = {}) {
  const id = state.channel;
  const answer = await get(`channel/${id}`);
  if (answer.ok === false) return notify(answer);
  if (id !== state.channel || state.isHome) return;
  state.messages = answer.messages.filter((message) => !isReply(message) && isStillShown(message)).sort(byTs);
  drawLog(options);
}

async function reloadThread(options = {}) {
  const ts = state.rootTs;
  const answer = await get(`thread/${state.channel}/${ts}`);
  if (answer.ok === false) return notify(answer);
  if (ts !== state.rootTs) return;
  state.replies = answer.messages.filter(isStillShown).sort(byTs);
  drawThread(options);
}

const isReply = (message) => message.thread_ts && message.thread_ts !== message.ts && message.subtype !== "thread_broadcast";

// What only this person sees came while this page was open, or is gone: in Slack it does not outlive a reload.
const whispers = new Set();
const isStillShown = (message) => !message.ephemeral || whispers.has(`${message.channel} ${message.ts}`);

// Events say that something happened; counts of replies and the like stand in messages the event does not carry.
let settling = null;
function settle() {
  clearTimeout(settling);
  settling = setTimeout(() => {
    if (state.channel && !state.isHome) reload();
    if (state.rootTs) reloadThread();
  }, 60);
}

function put(list, message) {
  const at = list.findIndex((item) => item.ts === message.ts && Boolean(item.ephemeral) === Boolean(message.ephemeral));
  if (at >= 0) list[at] = message;
  else list.push(message);
  list.sort(byTs);
}

function arrived(event) {
  const { message, channel } = event;
  if (message?.ephemeral) whispers.add(`${message.channel} ${message.ts}`);
  const isNew = event.type === "message" || event.type === "ephemeral";
  if (channel !== state.channel || state.isHome) {
    if (isNew && !(message && isReply(message))) {
      state.unread.add(channel);
      drawHead();
    }
    return;
  }
  if (message?.ts && typeof message.html === "string") {
    if (!isReply(message)) {
      put(state.messages, message);
      drawLog({ toBottom: isNew && (message.user === boot.me.id || Boolean(message.ephemeral)) });
    }
    if (state.rootTs && (message.thread_ts ?? message.ts) === state.rootTs) {
      put(state.replies, message);
      drawThread({ toBottom: isNew });
    }
    if (isNew && message.user !== boot.me.id) announce(message);
  }
  settle();
}

/** Say a new message to those who hear the page: its `text`, which is what Slack gives a screen reader. */
function announce(message) {
  $("announcer").textContent = `${authorOf(message, people).name}: ${message.text || "new message"}`;
}

function onEvent(event) {
  switch (event.type) {
    case "view_open": return modals.open(event.view);
    case "view_update": return modals.update(event.view);
    case "view_close": return modals.drop(event.view?.id ?? event.view_id ?? null);
    case "home": return state.isHome ? (event.view?.html ? home.draw(event.view) : home.load()) : undefined;
    case "channel": return refreshBoot();
    case "error": return notify({ error: event.error, message: event.text ?? (typeof event.message === "string" ? event.message : event.message?.text) });
    default: return event.channel ? arrived(event) : settle();
  }
}

async function refreshBoot() {
  const answer = await get("boot");
  if (answer.ok === false) return;
  Object.assign(boot, answer);
  for (const user of boot.users) people.set(user.id, user);
  drawHead();
}

// ---- beginning ----

async function sendTo(body) {
  const answer = await post("message", { channel: state.channel, ...body });
  if (!answer.ok) notify(answer);
  else $("notices").replaceChildren();
  return answer.ok;
}

function sendReply(text) {
  const command = /^\/\S+/.exec(text)?.[0];
  if (command && boot.commands.some((item) => item.command === command)) {
    notify({ message: `${command} is not supported in threads. Sorry!` });
    return Promise.resolve(false);
  }
  return sendTo({ text, thread_ts: state.rootTs });
}

function wire() {
  const directory = {
    users: () => boot.users.filter((user) => !user.is_bot).map((user) => [user.id, user.real_name || user.name]),
    channels: () => boot.channels.map((channel) => [channel.id, `#${channel.name}`]),
  };
  modals = makeModals({ directory, notify });
  home = makeHome({ directory, notify });
  actions = messageActions({ boot, channelOf: () => state.channel, notify, openThread });
  composer = makeComposer($("composer"), {
    send: (text) => sendTo({ text }), commands: boot.commands,
    shortcuts: boot.shortcuts.filter((item) => item.type === "global"), runShortcut: actions.runGlobal,
  });
  threadComposer = makeComposer($("thread-composer"), { send: sendReply });
  closeDrawer = wireDrawer();
  wireUserSwitch(boot);
  for (const list of [log, threadLog]) {
    listenForActions(list, notify);
    dressSelects(list);
    wireMessageKeys(list);
  }
  log.addEventListener("scroll", () => hidePastDays(log), { passive: true });
  $("app-messages").addEventListener("click", openAppMessages);
  $("thread-close").addEventListener("click", () => closeThread());
  document.addEventListener("click", followInside);
  const mention = (event) => {
    const node = event.target.closest?.("[data-open-channel]");
    if (node && channelById(node.dataset.openChannel)) openChannel(node.dataset.openChannel);
  };
  document.addEventListener("click", mention);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter") mention(event);
    if (event.key === "Escape" && state.rootTs && !isMenuOpen() && !$("modal").open) closeThread();
  });
}

async function start() {
  const answer = await get("boot");
  if (answer.ok === false) {
    notify(answer);
    return;
  }
  boot = { commands: [], shortcuts: [], ...answer };
  for (const user of boot.users) people.set(user.id, user);
  if (boot.app) people.set(boot.app.id, { id: boot.app.id, name: boot.app.name, is_bot: true });
  wire();
  follow({
    onEvent,
    onState: (connected) => { $("connection").textContent = connected ? "" : "Reconnecting…"; },
    onGap: () => {
      refreshBoot();
      settle();
    },
  });
  await openFirst();
  const app = $("app");
  app.removeAttribute("aria-busy");
  app.dataset.ready = "true";
}

function openFirst() {
  const place = parseArchive(new URL(location.href));
  if (place && channelById(place.channel)) return openChannel(place.channel, { ...place, keepAddress: true });
  const hash = location.hash.slice(1);
  if (hash === "home" && boot.app) return openHome();
  const open = boot.channels.filter((channel) => channel.is_member && !channel.is_archived && !channel.is_im);
  // Whoever opens the page without an address wants what is going on, and #general is made before anything is.
  const first = channelById(hash) ?? open.find((channel) => channel.name !== "general") ?? open[0] ?? boot.channels[0];
  if (first) return openChannel(first.id);
  $("messages").replaceChildren(h("div", { class: "empty" }, h("strong", {}, "No channels yet"), "A channel appears here as soon as there is one."));
  return undefined;
}

start();
