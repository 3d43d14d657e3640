// Elements, icons, times. Text always goes in as text; only HTML from the server goes in as HTML.

/** Make an element. Keys of `attributes` are attributes; `on*` functions are listeners; null and false are left out. */
export function h(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(space, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

export const $ = (testid) => document.querySelector(`[data-testid="${testid}"]`);

/** The language of a short text, so that Han characters get the glyphs of their readers. */
export function languageOf(text) {
  if (/[\u3040-\u30ff]/.test(text)) return "ja";
  if (/[\uac00-\ud7af]/.test(text)) return "ko";
  return /\p{Script=Han}/u.test(text) ? "zh-Hans" : null;
}

export const dateOf = (ts) => new Date(Number(ts) * 1000);

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const dayWords = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long" });
const dayAndYear = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric" });

export const timeOf = (ts) => clock.format(dateOf(ts));
export const dayKey = (ts) => dateOf(ts).toDateString();

export function dayName(ts) {
  const day = dateOf(ts);
  const now = new Date();
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  if (day.toDateString() === now.toDateString()) return "Today";
  if (day.toDateString() === yesterday.toDateString()) return "Yesterday";
  return (day.getFullYear() === now.getFullYear() ? dayWords : dayAndYear).format(day);
}

export function fullTime(ts) {
  return `${dayAndYear.format(dateOf(ts))}, ${timeOf(ts)}`;
}

/** The address of a message: `1796173208.000100` is written `p1796173208000100`, and a reply names its thread. */
export function archivePath(channel, { ts, thread_ts: threadTs }) {
  const path = `/archives/${channel}/p${ts.replace(".", "")}`;
  return threadTs && threadTs !== ts ? `${path}?thread_ts=${threadTs}&cid=${channel}` : path;
}

export function parseArchive(url) {
  const found = /^\/archives\/([^/]+)\/p(\d{11,16})$/.exec(url.pathname);
  if (!found) return null;
  const [, channel, digits] = found;
  return { channel, ts: `${digits.slice(0, -6)}.${digits.slice(-6)}`, threadTs: url.searchParams.get("thread_ts") };
}
