// Speaks to the workspace's control API; every refusal becomes a ControlError with a code and a
// sentence.

class ControlError extends Error {
  constructor(code, detail) {
    super(detail || code);
    this.code = code;
  }
}

async function request(path, body) {
  const options =
    body === undefined
      ? {}
      : {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(body),
        };
  let answer;
  try {
    const response = await fetch(`/control/${path}`, { cache: "no-store", ...options });
    answer = await response.json();
  } catch {
    throw new ControlError(
      "workspace_unreachable",
      "The local workspace does not answer. Is it still running?",
    );
  }
  if (!answer.ok) throw new ControlError(answer.error ?? "unknown_error", answer.detail);
  return answer;
}

const query = (fields) =>
  new URLSearchParams(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  ).toString();
const id = encodeURIComponent;

const SOON = 5000;
let actedAt = -Infinity;

/**
 * Whether this person pressed or sent something a moment ago, so that what comes now may be the
 * answer.
 */
export const hasJustActed = () => performance.now() - actedAt < SOON;

function act(path, body) {
  actedAt = performance.now();
  return request(path, body);
}

export const control = {
  workspace: (user) => request(`workspace?${query({ user })}`),
  messages: (user, channel, { thread, limit = 200 } = {}) =>
    request(`channels/${id(channel)}/messages?${query({ user, thread_ts: thread, limit })}`),
  command: (user, channel, text) => act("commands", { user, channel, text }),
  message: (user, channel, text, { thread, files = [], broadcast = false } = {}) =>
    request("messages", {
      user,
      channel,
      text,
      files,
      broadcast,
      ...(thread ? { thread_ts: thread } : {}),
    }),
  action: (fields) => act("actions", fields),
  suggestions: (fields) => request("suggestions", fields),
  /** `where` names the message of a message shortcut: { channel, ts }. */
  shortcut: (user, callback, where = {}) =>
    act("shortcuts", { user, callback_id: callback, ...where }),
  stage: () => request("stage"),
  bringAbout: (name) => act("stage", { name }),
  views: (user) => request(`views?${query({ user })}`),
  submit: (view, user, values) => act(`views/${id(view)}/submit`, { user, values }),
  close: (view, user) => request(`views/${id(view)}/close`, { user }),
  home: (user, tab) => request("home", { user, tab }),
};

/**
 * Follows the workspace's changes for one person until `stop()`. `opened` is called at every
 * connection, the first included: what happened before it was not streamed, so it is the moment to
 * read state.
 */
export function follow(user, { opened, change, lost }) {
  let source = null;
  let timer = null;
  let delay = 500;
  let stopped = false;
  const connect = () => {
    source = new EventSource(`/control/stream?${query({ user })}`);
    source.addEventListener("open", () => {
      delay = 500;
      opened();
    });
    source.addEventListener("change", (event) => change(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      // The browser's own wait between attempts is seconds long and ends for good at an HTTP error:
      // so we reconnect ourselves.
      source.close();
      lost();
      if (stopped) return;
      timer = setTimeout(connect, delay);
      delay = Math.min(delay * 2, 5000);
    });
  };
  connect();
  return () => {
    stopped = true;
    clearTimeout(timer);
    source.close();
  };
}
