// The box to write in, with the list of commands that opens on "/".
import { h, icon, languageOf } from "./dom.js";
import { openMenu } from "./menu.js";

/**
 * Fill a form with a composer. `send(text)` resolves to true when the text may be cleared.
 * `commands` and `shortcuts` are lists as the server gives them; a thread has neither.
 */
export function makeComposer(form, { send, commands = [], shortcuts = [], runShortcut = null }) {
  const listId = `${form.dataset.testid}-commands`;
  const list = h("div", { class: "suggest", id: listId, role: "listbox", "aria-label": "Commands", hidden: true, "data-testid": "command-list" });
  const field = h("textarea", {
    rows: 1, "data-testid": `${form.dataset.testid}-input`, "aria-autocomplete": "list", "aria-controls": listId,
    autocomplete: "off", spellcheck: "true",
  });
  const button = h("button", { type: "submit", class: "icon-btn send", disabled: true, "aria-label": "Send", "data-testid": `${form.dataset.testid}-send` }, icon("send"));
  const row = h("div", { class: "composer-row" });
  if (commands.length) row.append(h("button", { type: "button", class: "icon-btn", "aria-label": "Commands", onclick: startCommand }, icon("slash")));
  if (shortcuts.length) {
    const opener = h("button", { type: "button", class: "icon-btn", "aria-label": "Shortcuts", "aria-haspopup": "menu", "data-testid": "shortcuts" }, icon("bolt"));
    opener.addEventListener("click", () => openMenu(opener, shortcuts.map((item) => ({
      label: item.name, hint: item.description, lang: languageOf(item.name), callbackId: item.callback_id,
      run: () => runShortcut(item),
    })), { label: "Shortcuts" }));
    row.append(opener);
  }
  row.append(h("span", { class: "hint-keys", "aria-hidden": "true" }, "Shift+Enter for a new line"), button);
  form.replaceChildren(list, field, row);

  let offered = [];
  let active = 0;

  function startCommand() {
    field.value = "/";
    field.focus();
    refresh();
  }

  function refresh() {
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight}px`;
    button.disabled = field.value.trim() === "";
    const typed = /^\/\S*$/.test(field.value) ? field.value : null;
    offered = typed === null ? [] : commands.filter((item) => item.command.startsWith(typed));
    active = 0;
    drawList();
  }

  function drawList() {
    list.hidden = offered.length === 0;
    list.replaceChildren(
      h("div", { class: "suggest-title", role: "presentation" }, "Commands"),
      ...offered.map((item, index) =>
        h(
          "div",
          {
            class: "suggest-item", role: "option", id: `${listId}-${index}`, "aria-selected": String(index === active),
            onmousedown: (event) => event.preventDefault(), onclick: () => complete(item), "data-command": item.command,
          },
          h("span", { class: "avatar avatar-app", "aria-hidden": "true" }),
          h("b", {}, item.command),
          item.usage_hint ? h("span", { class: "usage", lang: languageOf(item.usage_hint) }, item.usage_hint) : null,
          h("span", { class: "about", lang: languageOf(item.description ?? "") }, item.description ?? ""),
        ),
      ),
    );
    if (list.hidden) field.removeAttribute("aria-activedescendant");
    else field.setAttribute("aria-activedescendant", `${listId}-${active}`);
  }

  function complete(item) {
    field.value = `${item.command} `;
    field.focus();
    refresh();
  }

  function onListKey(event) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      active = (active + (event.key === "ArrowDown" ? 1 : -1) + offered.length) % offered.length;
      drawList();
    } else if (event.key === "Escape") {
      offered = [];
      drawList();
    } else if (event.key === "Tab" || (event.key === "Enter" && offered[active].command !== field.value)) {
      complete(offered[active]);
    } else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  field.addEventListener("input", refresh);
  field.addEventListener("blur", () => { list.hidden = true; });
  field.addEventListener("focus", () => { list.hidden = offered.length === 0; });
  field.addEventListener("keydown", (event) => {
    // While an input method is composing, Enter takes a candidate and must not send.
    if (event.isComposing || event.keyCode === 229) return;
    if (offered.length && onListKey(event)) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = field.value;
    if (text.trim() === "") return;
    field.value = "";
    refresh();
    if (!(await send(text)) && field.value === "") {
      field.value = text;
      refresh();
    }
  });

  return {
    focus: () => field.focus(),
    label: (words) => {
      field.placeholder = words;
      field.setAttribute("aria-label", words);
    },
    clear: () => {
      field.value = "";
      refresh();
    },
  };
}
