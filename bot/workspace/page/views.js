// Modals and the Home tab. The server sends their HTML; the stack of open modals is kept here as Slack keeps it.
import { $, h } from "./dom.js";
import { gatherState, listenForActions } from "./controls.js";
import { closeMenu, dressSelects } from "./menu.js";
import { get, post } from "./net.js";

/** Put lists of people and channels into the menus that ask for them. */
function fillSources(root, directory) {
  for (const node of root.querySelectorAll("[data-source]")) {
    const choices = node.dataset.source === "users" ? directory.users() : directory.channels();
    if (node.tagName === "SELECT") {
      for (const [value, label] of choices) node.append(h("option", { value, selected: value === node.dataset.chosen }, label));
    } else {
      node.querySelector(".multi-options").append(...choices.map(([value, label]) =>
        h("label", { class: "choice" }, h("input", { type: "checkbox", value }), h("span", { class: "choice-text" }, label))));
    }
  }
}

/** Keep what a person has typed when an update draws the same inputs anew. */
function carryOver(from, to) {
  for (const old of from.querySelectorAll(".field[data-action-id]")) {
    const same = [...to.querySelectorAll(".field[data-action-id]")].find(
      (node) => node.dataset.actionId === old.dataset.actionId && blockId(node) === blockId(old));
    if (same && old.value) same.value = old.value;
  }
}
const blockId = (node) => node.closest("[data-block-id]").dataset.blockId;

export function makeModals({ directory, notify }) {
  const dialog = $("modal");
  const stack = [];
  let opener = null;

  function draw({ keepTyped = false } = {}) {
    closeMenu();
    const view = stack.at(-1);
    if (!view) {
      if (dialog.open) dialog.close();
      dialog.replaceChildren();
      opener?.focus?.();
      opener = null;
      return;
    }
    const fresh = h("div");
    fresh.innerHTML = view.html;
    fillSources(fresh, directory);
    if (keepTyped && dialog.dataset.viewId === view.id) carryOver(dialog, fresh);
    dialog.dataset.viewId = view.id;
    dialog.dataset.viewType = "modal";
    dialog.dataset.callbackId = view.callback_id ?? "";
    dialog.setAttribute("aria-label", view.title?.text ?? "Dialog");
    const focused = dialog.contains(document.activeElement) ? document.activeElement.dataset.actionId : null;
    dialog.replaceChildren(...fresh.childNodes);
    if (!dialog.open) {
      opener = document.activeElement;
      dialog.showModal();
    }
    const first = focused && [...dialog.querySelectorAll("[data-action-id]")].find((node) => node.dataset.actionId === focused);
    (first || dialog.querySelector(".field") || dialog).focus();
  }

  function open(view) {
    const at = stack.findIndex((item) => item.id === view.id);
    if (at >= 0) return update(view);
    // A view pushed on another names it; any other view begins a new stack.
    const pushed = view.previous_view_id && stack.some((item) => item.id === view.previous_view_id);
    if (!pushed) stack.length = 0;
    stack.push(view);
    draw();
  }

  function update(view) {
    const at = stack.findIndex((item) => item.id === view.id);
    if (at < 0) return;
    stack[at] = view;
    if (at === stack.length - 1) draw({ keepTyped: true });
  }

  function drop(viewId) {
    const at = viewId ? stack.findIndex((item) => item.id === viewId) : 0;
    if (at < 0) return;
    stack.length = at;
    draw();
  }

  async function leave() {
    const view = stack.at(-1);
    if (!view) return;
    drop(view.id);
    await post("view_close", { view_id: view.id });
  }

  /** Take every modal off the screen. What is returned tells the server. */
  function dismiss() {
    const [lowest] = stack;
    drop(null);
    return () => lowest && post("view_close", { view_id: lowest.id });
  }

  async function submit() {
    const view = stack.at(-1);
    showErrors({});
    const button = dialog.querySelector('[data-modal="submit"]');
    if (button) button.disabled = true;
    const answer = await post("view_submit", { view_id: view.id, state: gatherState(dialog) });
    if (button) button.disabled = false;
    if (answer.errors && Object.keys(answer.errors).length) return showErrors(answer.errors);
    // Closed, updated or pushed upon: the event says which.
    if (!answer.ok) showProblem(answer);
  }

  function showErrors(errors) {
    dialog.querySelectorAll(".input-error, .notices").forEach((node) => node.remove());
    for (const [id, text] of Object.entries(errors)) {
      const block = [...dialog.querySelectorAll("[data-block-id]")].find((node) => node.dataset.blockId === id);
      block?.append(h("div", { class: "input-error", role: "alert", "data-testid": "input-error" }, text));
    }
    dialog.querySelector("[data-block-id]:has(.input-error) .field")?.focus();
  }

  function showProblem(answer) {
    dialog.querySelectorAll(".notices").forEach((node) => node.remove());
    const words = answer.message || "We had some trouble connecting. Try again?";
    dialog.querySelector(".modal-feet")?.before(h("div", { class: "notices", role: "alert" }, h("div", { class: "notice" }, h("span", {}, words))));
  }

  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
    leave();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest('[data-modal="close"]')) leave();
  });
  dialog.addEventListener("submit", (event) => {
    event.preventDefault();
    if (dialog.querySelector('[data-modal="submit"]')) submit();
  });
  listenForActions(dialog, (answer) => (dialog.open ? showProblem(answer) : notify(answer)));
  dressSelects(dialog);
  return { open, update, drop, dismiss };
}

export function makeHome({ directory, notify }) {
  const section = $("home");
  listenForActions(section, notify);
  dressSelects(section);

  let drawings = 0;

  function draw(view) {
    drawings += 1;
    const inner = h("div", { class: "home-inner" });
    if (view) {
      inner.dataset.viewId = view.id;
      inner.dataset.viewType = "home";
      inner.innerHTML = view.html;
      fillSources(inner, directory);
    } else {
      inner.append(h("div", { class: "empty" }, h("strong", {}, "Nothing here yet"), "The app has not published its Home tab for you."));
    }
    const old = section.querySelector(".home-inner");
    if (old) carryOver(old, inner);
    section.replaceChildren(inner);
  }

  async function load() {
    const before = drawings;
    const answer = await get("home");
    if (answer.ok === false) return notify(answer);
    // Opening the tab makes the app publish, and that event may overtake this answer.
    if (drawings === before) draw(answer.view ?? null);
  }

  return { draw, load };
}
