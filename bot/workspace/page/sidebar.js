// The column at the left: channels, the app, and who we are.
import { $, h, icon, languageOf } from "./dom.js";
import { addressFor } from "./net.js";

/** What stands before a channel's name: a hash, a lock, or nothing where the name is a person's. */
export function channelMark(channel) {
  if (channel.is_im) return "";
  return channel.is_private ? icon("lock") : "#";
}

function personMark(channel, boot) {
  const person = boot.users.find((user) => user.id === channel.user);
  if (person?.is_bot) return h("span", { class: "side-mark avatar avatar-app", "aria-hidden": "true" });
  return h("span", { class: "side-mark avatar", "aria-hidden": "true" }, [...channel.name][0]?.toUpperCase() ?? "");
}

export function drawSidebar({ boot, current, unread, openChannel, openHome }) {
  const item = (attributes, mark, name) => h("li", {}, h("button", { type: "button", ...attributes }, mark, h("span", { class: "side-name", lang: languageOf(name) }, name)));
  const state = (id) => (current === id ? "page" : null);
  const visible = boot.channels.filter((channel) => channel.is_member !== false || !channel.is_private);
  $("team").textContent = boot.team?.name ?? boot.team ?? "Workspace";
  const line = (channel) => item(
    {
      class: `side-item${unread.has(channel.id) ? " is-unread" : ""}${channel.is_archived ? " is-archived" : ""}`,
      "aria-current": state(channel.id), "data-channel": channel.id, "data-name": channel.name, "data-testid": "channel",
      "aria-label": `${channel.name}${unread.has(channel.id) ? ", unread" : ""}`, onclick: () => openChannel(channel.id),
    },
    channel.is_im ? personMark(channel, boot) : h("span", { class: "side-mark", "aria-hidden": "true" }, channelMark(channel)),
    channel.name,
  );
  $("channel-list").replaceChildren(...visible.filter((channel) => !channel.is_im).map(line));
  const direct = visible.filter((channel) => channel.is_im);
  $("dm-list").replaceChildren(...direct.map(line));
  $("dm-title").hidden = direct.length === 0;
  $("app-list").replaceChildren(boot.app ? item(
    { class: "side-item", "aria-current": state("home"), "data-testid": "app-home", onclick: openHome },
    h("span", { class: "side-mark avatar avatar-app", "aria-hidden": "true" }),
    boot.app.name,
  ) : "");
}

export function wireUserSwitch(boot) {
  const people = boot.users.filter((user) => !user.is_bot);
  const select = $("user-switch");
  select.replaceChildren(...people.map((user) => h("option", { value: user.name, selected: user.id === boot.me.id }, user.real_name || user.name)));
  select.addEventListener("change", () => location.assign(addressFor(select.value, location.hash)));
}

/** On a phone the column slides in over the messages. */
export function wireDrawer() {
  const app = $("app");
  const toggle = (open) => {
    app.classList.toggle("has-menu", open);
    $("scrim").hidden = !open;
    $("menu-toggle").setAttribute("aria-expanded", String(open));
    if (open) ($("channel-list").querySelector('[aria-current="page"]') ?? $("channel-list").querySelector("button"))?.focus();
  };
  $("menu-toggle").addEventListener("click", () => toggle(!app.classList.contains("has-menu")));
  $("scrim").addEventListener("click", () => toggle(false));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && app.classList.contains("has-menu")) {
      toggle(false);
      $("menu-toggle").focus();
    }
  });
  return () => toggle(false);
}
