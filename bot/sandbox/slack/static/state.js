// What the page knows of the workspace, kept true by reading state and applying the stream's
// changes. Listeners run at most once a frame.

import { control, follow } from "./control.js";
import { present, refreshAgo, setClockAhead } from "./dates.js";
import { recall, remember } from "./preferences.js";
import { toast } from "./toast.js";

const PAGE = 200;
const MOST_KEPT = 4000;
const MOST_READ = 1000;

export const state = {
  user: null,
  directory: null,
  place: null,
  conversations: new Map(),
  thread: null,
  views: [],
  home: null,
  homeAsked: null,
  stage: null,
  online: true,
  problem: null,
};

const watchers = new Map();
const stale = new Set();
let frame = 0;

/**
 * Calls `watcher` at most once a frame after any of the topics changed: directory, place,
 * messages, thread, views, home, connection.
 */
export function watch(topics, watcher) {
  watchers.set(watcher, topics);
}

// A click needs the same node under the pointer when it goes down and up: nothing is drawn in
// between.
// How long a release may be missing that the browser does not tell; a slow device takes seconds for
// a click.
const HELD_MILLISECONDS = 10_000;
let pressedAt = -Infinity;
const release = () => (pressedAt = -Infinity);
addEventListener(
  "pointerdown",
  (event) => {
    if (event.button === 0) pressedAt = performance.now();
  },
  true,
);
for (const told of ["pointerup", "pointercancel", "contextmenu", "dragend"])
  addEventListener(told, release, true);
addEventListener("pointermove", (event) => event.buttons === 0 && release(), {
  capture: true,
  passive: true,
});
addEventListener("blur", release);

export function changed(...topics) {
  for (const topic of topics) stale.add(topic);
  if (frame) return;
  const flush = () => {
    if (performance.now() - pressedAt < HELD_MILLISECONDS) {
      frame = setTimeout(flush, 30);
      return;
    }
    frame = 0;
    const now = new Set(stale);
    stale.clear();
    for (const [watcher, wanted] of watchers)
      if (wanted.some((topic) => now.has(topic))) watcher(now);
  };
  // A hidden tab draws no frames, but its title still counts what is unread.
  frame = document.hidden ? setTimeout(flush, 100) : requestAnimationFrame(flush);
}

export function conversation(channel) {
  if (!state.conversations.has(channel))
    state.conversations.set(channel, {
      messages: new Map(),
      limit: PAGE,
      loaded: false,
      more: false,
      unread: 0,
      firstUnread: null,
      from: null,
      readings: new Set(),
    });
  return state.conversations.get(channel);
}

export const isReply = (message) => Boolean(message.thread_ts) && message.thread_ts !== message.ts;
const byTs = (one, other) => Number(one.ts) - Number(other.ts);

/**
 * What the channel's list shows: roots and replies that were also sent to the channel, oldest
 * first.
 */
export function channelMessages(channel) {
  return [...conversation(channel).messages.values()]
    .filter((message) => !isReply(message) || message.broadcast)
    .sort(byTs);
}

export function threadMessages(channel, ts) {
  return [...conversation(channel).messages.values()]
    .filter((message) => message.ts === ts || message.thread_ts === ts)
    .sort(byTs);
}

/**
 * A reply brings its root with the count it has now, which is shown where the root is: counting
 * here would be wrong whenever what was read or streamed is later than the reply that brings it.
 */
function keepRoot(kept, root) {
  if (!root) return;
  for (const reading of kept.readings)
    reading.set(root.ts, {
      message: root,
      isRoot: !reading.has(root.ts) || reading.get(root.ts).isRoot,
    });
  if (kept.messages.has(root.ts)) kept.messages.set(root.ts, root);
}

/** The app's own direct conversation, which is its Messages tab. */
export const isAppChannel = (channel) => channel.kind === "im" && channel.bot_is_member;

export const openChannel = () => (state.place?.kind === "channel" ? state.place.id : null);

// Dismissing is this page's own doing: the workspace would give the message again.
const DISMISSED_KEPT = 300;
const dismissed = new Set(recall("dismissed", []));

export function dismissMessage(channel, ts) {
  dismissed.add(`${channel}/${ts}`);
  remember("dismissed", [...dismissed].slice(-DISMISSED_KEPT));
  conversation(channel).messages.delete(ts);
  changed("messages", "thread");
}

/**
 * Reads messages; what the stream brings meanwhile wins over what was read, whichever of several
 * readings ends first.
 */
export async function loadMessages(channel, thread) {
  const kept = conversation(channel);
  const arrived = new Map();
  kept.readings.add(arrived);
  try {
    const { messages } = await control.messages(state.user, channel, {
      thread,
      limit: thread ? MOST_READ : kept.limit,
    });
    const local = [...kept.messages.values()].filter(
      (message) =>
        message.notice ||
        (!thread && isReply(message) && !message.broadcast) ||
        (thread && message.thread_ts !== thread && message.ts !== thread),
    );
    const shown = messages.filter((message) => !dismissed.has(`${channel}/${message.ts}`));
    kept.messages = new Map([...local, ...shown].map((message) => [message.ts, message]));
    for (const [ts, { message, isRoot }] of arrived)
      if (!isRoot || kept.messages.has(ts)) applyTo(kept, ts, message);
    if (thread && state.thread?.ts === thread) state.thread.isLoaded = true;
    if (!thread) {
      kept.loaded = true;
      kept.more = messages.length >= kept.limit && kept.limit < MOST_READ;
    }
  } finally {
    kept.readings.delete(arrived);
  }
  changed("messages", "thread");
}

function applyTo(kept, ts, message) {
  if (message) kept.messages.set(ts, message);
  else kept.messages.delete(ts);
}

export async function loadEarlier(channel) {
  conversation(channel).limit = MOST_READ;
  await loadMessages(channel);
}

/**
 * Called when something is asked; what it gives says at the answer whether that still counts: not
 * when one that was asked for later came before, nor when somebody else looks at the page.
 */
function inOrder() {
  let asked = 0;
  let answered = 0;
  return () => {
    const { user } = state;
    asked += 1;
    const turn = asked;
    return () => {
      if (user !== state.user || turn < answered) return false;
      answered = turn;
      return true;
    };
  };
}

const askDirectory = inOrder();
const askViews = inOrder();

async function loadDirectory() {
  const counts = askDirectory();
  const answer = await control.workspace(state.user);
  if (!counts()) return;
  const viewer =
    typeof answer.viewer === "string"
      ? answer.users.find((user) => user.id === answer.viewer)
      : answer.viewer;
  setClockAhead(answer.clock_ahead ?? 0);
  refreshAgo();
  // Rows of messages are drawn again only when a name or a day they may show has changed.
  const names = JSON.stringify([
    present().toDateString(),
    answer.users.map((user) => [user.id, user.real_name, user.name]),
    answer.channels.map((channel) => [channel.id, channel.name]),
    viewer.id,
  ]);
  state.directory = { ...answer, viewer, names };
  state.user = viewer.id;
  changed("directory", "messages", "thread");
}

export async function loadViews() {
  const counts = askViews();
  const { views, home } = await control.views(state.user);
  if (!counts()) return;
  state.views = views;
  state.home = home;
  changed("views", "home");
}

async function loadStage() {
  const { stage } = await control.stage();
  state.stage = stage;
  changed("stage");
}

/** Chooses what is shown: { kind: "channel", id } or { kind: "home" }. */
export function goTo(place) {
  state.place = place;
  state.thread = null;
  remember("place", place);
  changed("place", "messages", "thread", "home", "directory");
  if (place.kind === "home") return openHome();
  const kept = conversation(place.id);
  kept.unread = 0;
  const channel = state.directory.channels.find((one) => one.id === place.id);
  if (channel && isAppChannel(channel)) attempt(control.home(state.user, "messages"));
  return kept.loaded ? undefined : attempt(loadMessages(place.id));
}

async function openHome() {
  state.homeAsked = "waiting";
  changed("home");
  try {
    const answer = await control.home(state.user);
    state.homeAsked = answer.acknowledged === false ? "unanswered" : "answered";
  } catch (error) {
    state.homeAsked = error.code === "app_not_connected" ? "unconnected" : "unanswered";
  }
  await attempt(loadViews());
  changed("home");
}

export function openThread(channel, ts) {
  state.thread = { channel, ts, isLoaded: false };
  changed("thread", "messages");
  return attempt(loadMessages(channel, ts));
}

export function closeThread() {
  state.thread = null;
  changed("thread", "messages");
}

/**
 * A failed reading leaves what was known and says so in the banner; the next connection reads
 * again.
 */
async function attempt(reading) {
  try {
    await reading;
    if (state.problem) changed("connection");
    state.problem = null;
  } catch (error) {
    state.problem = error.message;
    changed("connection");
  }
}

const arrivals = new Set();

/** Calls `listener(channel, message)` for each message that arrives while the page is open. */
export const onArrival = (listener) => arrivals.add(listener);

const replacements = new Set();

/**
 * Calls `listener(channel, message)` for each message that takes the place of one for this person
 * alone.
 */
export const onReplacement = (listener) => replacements.add(listener);

function keep(channel, ts, message) {
  const kept = conversation(channel);
  for (const reading of kept.readings) reading.set(ts, { message, isRoot: false });
  applyTo(kept, ts, message);
  if (kept.messages.size > MOST_KEPT + PAGE) {
    const old = [...kept.messages.keys()].sort((a, b) => a - b).slice(0, PAGE);
    for (const key of old) kept.messages.delete(key);
    kept.more = kept.limit < MOST_READ;
  }
  changed("messages", "thread");
}

function arrive({ channel, message, root }) {
  const known = conversation(channel).messages.has(message.ts);
  keepRoot(conversation(channel), root);
  keep(channel, message.ts, message);
  if (known) return;
  const own = message.user === state.user && !message.ephemeral;
  if (channel !== openChannel() && !own && !isReply(message)) {
    const kept = conversation(channel);
    kept.unread += 1;
    kept.firstUnread ??= message.ts;
    changed("directory");
  }
  for (const listener of arrivals) listener(channel, message);
}

let acting = 0;

/** Runs something that tells its own failure where it was started. */
export async function telling(run) {
  acting += 1;
  try {
    return await run();
  } finally {
    // The stream's notice may come just after the answer.
    setTimeout(() => (acting -= 1), 300);
  }
}

/** What Slackbot would tell this person: shown as a message that only this page has. */
export function notice(text, channel = openChannel()) {
  // What an element or a form says itself, where it was used, is not said twice.
  if (acting === 0) tell(text, channel);
}

/** The same, also for what an element would have said itself, were it still there. */
export function tell(text, channel = openChannel()) {
  // Where no channel is open, nothing would show a message.
  if (!channel) {
    toast(text);
    return;
  }
  const ts = (present() / 1000).toFixed(6);
  arrive({
    channel,
    message: {
      ts,
      user: "USLACKBOT",
      username: "Slackbot",
      is_bot: true,
      text,
      ephemeral: true,
      notice: true,
    },
  });
}

const APPLY = {
  message: arrive,
  ephemeral: arrive,
  message_changed: ({ channel, ts, message }) => keep(channel, message?.ts ?? ts, message),
  ephemeral_replaced: ({ channel, ts, message }) => {
    if (message && ts && message.ts !== ts) keep(channel, ts, null);
    keep(channel, message?.ts ?? ts, message);
    if (message) for (const listener of replacements) listener(channel, message);
  },
  message_deleted: ({ channel, ts, root }) => {
    keepRoot(conversation(channel), root);
    keep(channel, ts, null);
  },
  ephemeral_deleted: ({ channel, ts }) => keep(channel, ts, null),
  channel: () => attempt(loadDirectory()),
  app: () => attempt(loadDirectory()),
  view: () => attempt(loadViews()),
  home: () => attempt(loadViews()),
  stage: () => attempt(loadStage()),
  notice: ({ text, channel }) => (channel ? tell(text, channel) : notice(text)),
};

function apply(change) {
  const needsMessage = ["message", "ephemeral", "message_changed", "ephemeral_replaced"].includes(
    change.kind,
  );
  if (needsMessage && !change.message) {
    if (conversation(change.channel).loaded) attempt(loadMessages(change.channel));
    return;
  }
  APPLY[change.kind]?.(change);
}

async function readAll() {
  await attempt(loadDirectory());
  if (!state.directory) return;
  state.place ??= placeToStart();
  for (const [channel, kept] of state.conversations)
    if (channel !== openChannel()) kept.loaded = false;
  const reads = [loadViews(), loadStage()];
  if (openChannel()) reads.push(loadMessages(openChannel()));
  if (state.thread) reads.push(loadMessages(state.thread.channel, state.thread.ts));
  await attempt(Promise.all(reads));
  changed("place", "home");
}

function placeToStart() {
  const link = new URLSearchParams(location.search);
  const wanted = link.has("channel")
    ? { kind: "channel", id: link.get("channel") }
    : recall("place");
  const { channels, app } = state.directory;
  if (wanted?.kind === "home" && app.home_tab_enabled) return { kind: "home" };
  const known = channels.find((channel) => channel.id === wanted?.id);
  return {
    kind: "channel",
    id: (
      known ??
      channels.find((channel) => channel.is_member && channel.bot_is_member) ??
      channels[0]
    ).id,
  };
}

let unfollow = () => {};

/**
 * Becomes this person (or the first, when there is no such person): forgets what the one before
 * saw, and follows the stream again.
 */
export async function become(user) {
  unfollow();
  Object.assign(state, { user, thread: null, views: [], home: null, homeAsked: null });
  state.conversations.clear();
  await attempt(loadDirectory());
  if (user && state.problem) {
    state.user = null;
    await attempt(loadDirectory());
  }
  if (
    state.place?.kind === "channel" &&
    !state.directory?.channels.some((channel) => channel.id === state.place.id)
  )
    state.place = null;
  if (state.directory) state.place ??= placeToStart();
  if (state.place?.kind === "home") openHome();
  changed("place", "home", "thread", "views");
  remember("user", state.user);
  unfollow = follow(state.user, {
    opened: () => {
      state.online = true;
      changed("connection");
      return readAll();
    },
    change: apply,
    lost: () => {
      state.online = false;
      changed("connection");
    },
  });
}
