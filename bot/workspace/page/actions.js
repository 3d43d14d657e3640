// What can be done to a message: react, copy its link, edit, delete, and the app's shortcuts.
import { archivePath, h, languageOf } from "./dom.js";
import { askFirst } from "./controls.js";
import { REACTIONS } from "./emoji.js";
import { openMenu } from "./menu.js";
import { post } from "./net.js";

export function messageActions({ boot, channelOf, notify, openThread }) {
  const told = async (request) => {
    const answer = await request;
    if (!answer.ok) notify(answer);
    return answer.ok;
  };

  const react = (message, name, remove) => told(post("react", { channel: channelOf(), ts: message.ts, name, remove: remove || undefined }));

  function keepOpen(anchor) {
    const row = anchor.closest(".msg");
    row?.classList.add("is-open");
    return () => row?.classList.remove("is-open");
  }

  function pickReaction(message, anchor) {
    const mine = (name) => message.reactions?.some((item) => item.name === name && item.users?.includes(boot.me.id)) ?? false;
    const items = [...REACTIONS].map(([name, glyph]) => ({
      label: glyph, spoken: name, value: name, run: () => react(message, name, mine(name)),
    }));
    openMenu(anchor, items, { label: "Add reaction", className: "emoji-grid", onClose: keepOpen(anchor) });
  }

  function more(message, anchor) {
    const own = message.user === boot.me.id && !message.bot_id;
    const shortcuts = boot.shortcuts.filter((item) => item.type === "message");
    const items = [
      { label: "Reply in thread", run: () => openThread(message.thread_ts ?? message.ts) },
      { label: "Copy link", run: () => navigator.clipboard?.writeText(location.origin + archivePath(channelOf(), message)) },
      ...(own ? [
        { rule: true },
        { label: "Edit message", run: () => edit(message, anchor.closest(".msg")) },
        { label: "Delete message", danger: true, run: () => remove(message) },
      ] : []),
      ...(shortcuts.length ? [{ rule: true }] : []),
      ...shortcuts.map((item) => ({
        label: item.name, hint: boot.app?.name, lang: languageOf(item.name), callbackId: item.callback_id,
        run: () => told(post("shortcut", { callback_id: item.callback_id, channel: channelOf(), ts: message.ts })),
      })),
    ];
    openMenu(anchor, items, { label: "More actions", onClose: keepOpen(anchor) });
  }

  async function remove(message) {
    const words = { title: "Delete message", text: "Are you sure you want to delete this message? This cannot be undone.", confirm: "Delete", style: "danger" };
    if (await askFirst(words, document.body)) told(post("delete", { channel: channelOf(), ts: message.ts }));
  }

  function edit(message, row) {
    const body = row.querySelector('[data-testid="message-body"]');
    const field = h("textarea", { rows: 2, "aria-label": "Edit message", "data-testid": "edit-input" });
    field.value = message.text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
    const done = () => {
      form.remove();
      body.hidden = false;
      // Saving draws the row anew, perhaps already.
      const current = row.isConnected ? row : document.querySelector(`[data-testid="messages"] [data-ts="${CSS.escape(message.ts)}"]`);
      current?.focus();
    };
    const form = h(
      "form",
      { class: "edit" },
      field,
      h("div", { class: "edit-row" }, h("button", { type: "button", class: "btn", onclick: done }, "Cancel"), h("button", { class: "btn btn-primary" }, "Save")),
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (field.value.trim() && (await told(post("edit", { channel: channelOf(), ts: message.ts, text: field.value })))) done();
    });
    form.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") done();
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        form.requestSubmit();
      }
    });
    body.hidden = true;
    body.after(form);
    field.focus();
  }

  const runGlobal = (item) => told(post("shortcut", { callback_id: item.callback_id, channel: channelOf() ?? undefined }));
  return { react, pickReaction, more, runGlobal };
}

/** Keys on a focused message: arrows move, `t` opens the thread, `r` reacts, `m` opens the actions. */
export function wireMessageKeys(log) {
  log.addEventListener("keydown", (event) => {
    const row = event.target.closest(".msg");
    if (event.target === log && ["ArrowUp", "ArrowDown"].includes(event.key)) {
      event.preventDefault();
      [...log.querySelectorAll(".msg")].at(-1)?.focus();
      return;
    }
    if (!row || event.target !== row || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = [...log.querySelectorAll(".msg")];
    const at = rows.indexOf(row);
    const press = (testid) => row.querySelector(`[data-testid="${testid}"]`)?.click();
    const keys = {
      ArrowUp: () => rows[at - 1]?.focus(), ArrowDown: () => rows[at + 1]?.focus(), t: () => press("reply-in-thread"),
      r: () => press("add-reaction"), m: () => press("more-actions"), ContextMenu: () => press("more-actions"),
    };
    if (!(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
  // One stop for the Tab key in the whole list: the message last focused, or the newest.
  log.addEventListener("focusin", (event) => {
    const row = event.target.closest(".msg");
    if (!row) return;
    log.querySelectorAll('.msg[tabindex="0"]').forEach((node) => node.setAttribute("tabindex", "-1"));
    row.setAttribute("tabindex", "0");
  });
}
