// Menus that open beside what was pressed: message actions, shortcuts, emoji, options of a select.
import { h } from "./dom.js";

let open = null;

export function closeMenu({ refocus = false } = {}) {
  if (!open) return;
  const { box, anchor, onClose } = open;
  open = null;
  box.remove();
  anchor.setAttribute("aria-expanded", "false");
  onClose?.();
  if (refocus) anchor.focus();
}

export const isMenuOpen = () => open !== null;

/**
 * Open a menu. An item is {label, hint?, danger?, selected?, run}, {rule: true} or {title}.
 * Arrow keys, Home, End and first letters move; Enter chooses; Escape and Tab close.
 */
export function openMenu(anchor, items, { label, role = "menu", className = "", onClose } = {}) {
  const again = open?.anchor === anchor;
  closeMenu();
  if (again) return;
  const itemRole = role === "listbox" ? "option" : "menuitem";
  const box = h("div", { class: `popover ${className}`, role, "aria-label": label, "data-testid": "menu" });
  for (const item of items) {
    if (item.rule) box.append(h("hr", { class: "menu-rule" }));
    else if (item.title) box.append(h("div", { class: "menu-title", role: "presentation" }, item.title));
    else box.append(menuItem(item, itemRole));
  }
  // Inside an open dialog everything outside of it is inert, so the menu has to be inside.
  (anchor.closest("dialog") ?? document.body).append(box);
  open = { box, anchor, onClose };
  anchor.setAttribute("aria-expanded", "true");
  place(box, anchor);
  const buttons = [...box.querySelectorAll(".menu-item")];
  (buttons.find((button) => button.getAttribute("aria-selected") === "true") ?? buttons[0])?.focus();
  box.addEventListener("keydown", (event) => onKey(event, buttons, className.includes("emoji-grid") ? 6 : 1));
}

function menuItem(item, role) {
  const run = () => {
    closeMenu({ refocus: true });
    item.run();
  };
  return h(
    "button",
    {
      type: "button", role, tabindex: -1, onclick: run, lang: item.lang, "data-value": item.value,
      class: item.danger ? "menu-item is-danger" : "menu-item", "data-callback-id": item.callbackId,
      "aria-label": item.spoken, "aria-selected": role === "option" ? Boolean(item.selected).toString() : null,
    },
    item.label,
    item.hint ? h("span", { class: "from" }, item.hint) : null,
  );
}

function place(box, anchor) {
  const at = anchor.getBoundingClientRect();
  const size = box.getBoundingClientRect();
  const below = at.bottom + 4 + size.height <= innerHeight - 8;
  const top = below ? at.bottom + 4 : Math.max(8, at.top - 4 - size.height);
  const left = Math.min(Math.max(8, at.left), innerWidth - size.width - 8);
  box.style.top = `${top}px`;
  box.style.left = `${left}px`;
}

function onKey(event, buttons, columns) {
  const at = buttons.indexOf(document.activeElement);
  const steps = { ArrowDown: columns, ArrowUp: -columns, ArrowRight: 1, ArrowLeft: -1 };
  let to = null;
  if (event.key in steps) to = Math.min(Math.max(at + steps[event.key], 0), buttons.length - 1);
  else if (event.key === "Home") to = 0;
  else if (event.key === "End") to = buttons.length - 1;
  else if (event.key === "Escape" || event.key === "Tab") {
    event.preventDefault();
    event.stopPropagation();
    closeMenu({ refocus: true });
    return;
  } else if (event.key.length === 1 && event.key !== " ") {
    const rest = [...buttons.slice(at + 1), ...buttons.slice(0, at + 1)];
    const found = rest.find((button) => button.textContent.toLowerCase().startsWith(event.key.toLowerCase()));
    to = found ? buttons.indexOf(found) : null;
  }
  if (to === null) return;
  event.preventDefault();
  event.stopPropagation();
  buttons[to].focus();
}

/** Let native selects keep their value and events, but show their options in our own list where a mouse is used. */
export function dressSelects(root) {
  const show = (select) => {
    const items = [...select.options]
      .filter((option) => !option.disabled)
      .map((option) => ({
        label: option.text, lang: option.lang || null, selected: option.selected, value: option.value,
        run: () => {
          select.value = option.value;
          // Slack lets the same option be taken again; the native control would stay silent.
          select.dispatchEvent(new Event("change", { bubbles: true }));
        },
      }));
    openMenu(select, items, { label: select.getAttribute("aria-label"), role: "listbox" });
  };
  const ours = (event) => event.target.closest?.("select.select:not(:disabled)");
  root.addEventListener("mousedown", (event) => {
    const select = ours(event);
    if (!select || matchMedia("(pointer: coarse)").matches) return;
    event.preventDefault();
    select.focus();
    show(select);
  });
  root.addEventListener("keydown", (event) => {
    const select = ours(event);
    if (!select || ![" ", "Enter", "ArrowDown", "ArrowUp"].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    show(select);
  });
}

document.addEventListener("mousedown", (event) => {
  if (open && !open.box.contains(event.target) && !open.anchor.contains(event.target)) closeMenu();
});
// A message that arrives may scroll the list: the menu moves along and stays open.
function followAnchor() {
  if (!open) return;
  if (open.anchor.isConnected) place(open.box, open.anchor);
  else closeMenu();
}
window.addEventListener("resize", followAnchor);
document.addEventListener("scroll", followAnchor, true);
