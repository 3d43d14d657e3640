// What a person does to a message, a modal or the Home tab, told to the server as Slack tells it to an app.
import { h } from "./dom.js";
import { post } from "./net.js";

/** Where an element stands: {type, channel, ts} or {type, view_id}. */
function containerOf(node) {
  const view = node.closest("[data-view-id]");
  if (view) return { type: view.dataset.viewType === "home" ? "home" : "view", view_id: view.dataset.viewId };
  const message = node.closest("[data-ts]");
  return { type: "message", channel: message.dataset.channel, ts: message.dataset.ts };
}

const blockOf = (node) => node.closest("[data-block-id]");
const plainText = (text) => ({ type: "plain_text", text, emoji: true });

function chosenOptions(root) {
  return [...root.querySelectorAll("input:checked")].map((box) => ({
    text: plainText(box.closest(".choice").querySelector(".choice-text").firstChild?.textContent ?? ""),
    value: box.value,
  }));
}

const SOURCES = { users: "user", channels: "channel", conversations: "conversation" };
const EMPTY_AS_NULL = (value) => (value === "" ? null : value);

/** The value of one element, in the shape Slack gives it in a payload. */
export function valueOf(node) {
  const type = node.dataset.type;
  const source = SOURCES[node.dataset.source];
  if (type.startsWith("multi_")) {
    const options = chosenOptions(node);
    return source
      ? { type, [`selected_${source}s`]: options.map((option) => option.value) }
      : { type, selected_options: options };
  }
  if (type.endsWith("_select")) {
    const option = node.value === "" ? null : node.selectedOptions[0];
    if (source) return { type, [`selected_${source}`]: option?.value ?? null };
    return { type, selected_option: option ? { text: plainText(option.text), value: option.value } : null };
  }
  switch (type) {
    case "checkboxes": return { type, selected_options: chosenOptions(node) };
    case "radio_buttons": return { type, selected_option: chosenOptions(node)[0] ?? null };
    case "datepicker": return { type, selected_date: EMPTY_AS_NULL(node.value) };
    case "timepicker": return { type, selected_time: EMPTY_AS_NULL(node.value) };
    case "datetimepicker":
      return { type, selected_date_time: node.value ? Math.floor(Date.parse(`${node.value}Z`) / 1000) : null };
    default: return { type, value: EMPTY_AS_NULL(node.value ?? "") };
  }
}

const STATELESS = new Set(["button", "overflow", "workflow_button", "icon_button", "feedback_buttons"]);

/** All values of a view or message: {block_id: {action_id: value}}. */
export function gatherState(root) {
  const state = {};
  for (const node of root.querySelectorAll("[data-action-id]")) {
    if (STATELESS.has(node.dataset.type)) continue;
    const block = blockOf(node).dataset.blockId;
    (state[block] ??= {})[node.dataset.actionId] = valueOf(node);
  }
  return state;
}

/** Ask before an action that wants it. Resolves to whether the person agreed. */
export function confirmed(node, host) {
  if (!node.dataset.confirm) return Promise.resolve(true);
  return askFirst(JSON.parse(node.dataset.confirm), host);
}

export function askFirst(words, host) {
  const { title, text, confirm, deny, style } = words;
  return new Promise((resolve) => {
    const yes = h("button", { value: "yes", class: `btn btn-${style || "primary"}`, "data-testid": "confirm-yes" }, confirm || "Yes");
    const no = h("button", { value: "no", class: "btn", "data-testid": "confirm-no" }, deny || "Cancel");
    const dialog = h(
      "dialog",
      { class: "modal", "data-testid": "confirm", "aria-label": title || "Are you sure?" },
      h(
        "form",
        { method: "dialog", class: "modal-form" },
        h("header", { class: "modal-head" }, h("h2", { class: "modal-title" }, title || "Are you sure?")),
        h("div", { class: "confirm-text" }, text),
        h("footer", { class: "modal-feet" }, no, yes),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    host.append(dialog);
    dialog.showModal();
    yes.focus();
  });
}

/** Wire one region of the page. `onFailure` shows what went wrong. */
export function listenForActions(root, onFailure) {
  const send = async (node, extra) => {
    if (!(await confirmed(node, document.body))) return;
    const home = node.closest("[data-view-id], [data-ts]");
    node.classList.add("is-busy");
    const answer = await post("action", {
      container: containerOf(node),
      block_id: blockOf(node)?.dataset.blockId ?? "",
      action_id: node.dataset.actionId,
      action_type: node.dataset.type,
      ...extra,
      state: gatherState(home),
    });
    node.classList.remove("is-busy");
    if (!answer.ok) onFailure(answer);
  };

  root.addEventListener("click", (event) => {
    const option = event.target.closest(".overflow [data-option]");
    if (option) {
      const menu = option.closest(".overflow");
      menu.open = false;
      const selected = { text: plainText(option.textContent), value: option.dataset.option };
      send(menu, { selected_option: selected });
      return;
    }
    const button = event.target.closest("button[data-action-id], a[data-action-id]");
    if (!button || button.classList.contains("is-busy")) return;
    send(button, "value" in button.dataset ? { value: button.dataset.value } : {});
  });

  root.addEventListener("change", (event) => {
    const node = event.target.closest("[data-action-id]");
    if (node?.classList.contains("multi")) nameChoices(node);
    if (!node || !tellsAtOnce(node)) return;
    if (["text", "email", "url", "number"].includes(node.type) || node.tagName === "TEXTAREA") return;
    const { type: _, ...chosen } = valueOf(node);
    const [value] = Object.values(chosen);
    send(node, { ...chosen, value });
  });

  root.addEventListener("keydown", (event) => {
    const node = event.target.closest(".field[data-action-id]");
    if (!node || event.key !== "Enter" || event.isComposing || node.tagName === "TEXTAREA") return;
    if (node.closest("[data-dispatch]") && triggersOf(node).includes("on_enter_pressed")) {
      event.preventDefault();
      send(node, { value: node.value });
    }
  });

  const waiting = new WeakMap();
  root.addEventListener("input", (event) => {
    const node = event.target.closest(".field[data-action-id]");
    if (!node || !node.closest("[data-dispatch]") || !triggersOf(node).includes("on_character_entered")) return;
    clearTimeout(waiting.get(node));
    waiting.set(node, setTimeout(() => send(node, { value: node.value }), 400));
  });
}

/** A closed menu of several choices shows what is chosen. */
function nameChoices(menu) {
  const summary = menu.querySelector("summary");
  summary.dataset.placeholder ??= summary.textContent;
  summary.textContent = chosenOptions(menu).map((option) => option.text.text).join(", ") || summary.dataset.placeholder;
}

const triggersOf = (node) => (node.dataset.triggers ?? "on_enter_pressed").split(" ");

/** Inside an input block an element keeps still until the form is sent, unless the block says otherwise. */
function tellsAtOnce(node) {
  return !node.closest(".block-input") || node.closest("[data-dispatch]") !== null;
}
