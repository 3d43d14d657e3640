// The page's own HTTP interface: a few reads, a few writes, one stream of events.

const parameters = new URLSearchParams(location.search);
export const userName = parameters.get("user") || "reader";

async function answerOf(request) {
  try {
    const response = await request;
    const answer = await response.json();
    if (!response.ok && answer.ok !== false) return { ...answer, ok: false, error: `http_${response.status}` };
    return answer;
  } catch {
    return { ok: false, error: "unreachable", message: "The workspace did not answer. Is it still running?" };
  }
}

export const get = (path) => answerOf(fetch(`/_page/${path}?user=${encodeURIComponent(userName)}`));

export const post = (path, body) =>
  answerOf(
    fetch(`/_page/${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ user: userName, ...body }),
    }),
  );

/** Follow the events. `onGap` runs after a reconnection: what was missed has to be read again. */
export function follow({ onEvent, onState, onGap }) {
  const source = new EventSource(`/_page/events?user=${encodeURIComponent(userName)}`);
  let wasOpen = false;
  source.onopen = () => {
    onState(true);
    if (wasOpen) onGap();
    wasOpen = true;
  };
  source.onerror = () => onState(false);
  source.onmessage = (frame) => onEvent(JSON.parse(frame.data));
}

/** The address of this page for another user or the same, keeping the theme. */
export function addressFor(user, hash = "") {
  const kept = new URLSearchParams();
  if (user !== "reader") kept.set("user", user);
  if (parameters.get("theme")) kept.set("theme", parameters.get("theme"));
  const query = kept.toString();
  return `/${query ? `?${query}` : ""}${hash}`;
}

export function applyTheme() {
  const theme = parameters.get("theme");
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
}
