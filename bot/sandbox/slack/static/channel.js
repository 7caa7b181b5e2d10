// The open channel: its head, its messages, the box below, and what a newcomer may try.

import { Composer, KEEP_TEXT } from "./composer.js";
import { control, hasJustActed } from "./control.js";
import { el, fill, icon, iconButton } from "./dom.js";
import { MessageList } from "./messages.js";
import { openMenu } from "./popup.js";
import { recall, remember } from "./preferences.js";
import {
  changed,
  channelMessages,
  conversation,
  dismissMessage,
  goTo,
  isReply,
  loadEarlier,
  notice,
  onArrival,
  openChannel,
  openThread,
  state,
  watch,
} from "./state.js";
import { examplesOf } from "./suggestions.js";
import { explain } from "./surface.js";

const ROWS_MOST = 600;
const ROWS_KEPT = 300;

const list = el("ol", { class: "messages", role: "list" });
const earlier = el(
  "button",
  { type: "button", class: "earlier button", hidden: true },
  "Show earlier messages",
);
const empty = el("div", { class: "channel-start", hidden: true });
// Beside the region that is busy, because what changes inside of one isn't read aloud.
const reading = el("p", { class: "reading", role: "status" }, "Loading…");
const scroller = el(
  "div",
  {
    class: "scroller",
    tabindex: 0,
    role: "region",
    "aria-label": "Messages",
    "aria-busy": "true",
  },
  empty,
  earlier,
  list,
);
const jump = el("button", { type: "button", class: "jump", hidden: true });
const tips = el("div", { class: "tips-place" });
let waiting = 0;
let shownChannel = null;
const drafts = new Map();

const bolt = iconButton("bolt", "Shortcuts", (event) => openShortcuts(event.currentTarget), {
  id: "shortcuts",
  "aria-haspopup": "menu",
  "aria-expanded": "false",
});

export const composer = new Composer({
  id: "composer-text",
  label: "Message",
  placeholder: "Message",
  send: sendFromChannel,
  commands: () => state.directory?.app.commands ?? [],
  extra: bolt,
});
export const channelBody = el(
  "div",
  { class: "conversation" },
  el("div", { class: "jump-place" }, reading),
  scroller,
  el("div", { class: "jump-place" }, jump),
  tips,
  composer.node,
);

/** Ephemeral messages are dismissed on this page only, as in Slack. */
export function dismiss(channel, message) {
  dismissMessage(channel, message.ts);
  composer.text.focus();
}

const messages = new MessageList({
  scroller,
  list,
  channel: null,
  actions: {
    reply: (message) => openThread(openChannel(), message.ts),
    openRoot: (message) => openThread(openChannel(), message.thread_ts),
    dismiss: (message) => dismiss(openChannel(), message),
  },
  onPinned: (pinned) => {
    if (pinned) waiting = 0;
    drawJump();
  },
});

jump.addEventListener("click", () => {
  waiting = 0;
  messages.toBottom();
  drawJump();
  composer.text.focus();
});
earlier.addEventListener("click", async () => {
  const below = scroller.scrollHeight - scroller.scrollTop;
  const kept = conversation(openChannel());
  const all = channelMessages(openChannel());
  const start = startOf(all, kept);
  kept.from = all[Math.max(0, start - ROWS_KEPT)].ts;
  messages.setPinned(false);
  changed("messages");
  if (start === 0) {
    kept.from = null;
    await loadEarlier(openChannel());
  }
  // The rows stand after the next frame; what was read stays where it was.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => (scroller.scrollTop = scroller.scrollHeight - below)),
  );
});

function drawJump() {
  jump.hidden = messages.pinned;
  fill(
    jump,
    waiting ? `${waiting} new message${waiting === 1 ? "" : "s"}` : "To the newest",
    icon("arrow"),
  );
  jump.classList.toggle("jump-new", waiting > 0);
}

onArrival((channel, message) => {
  if (channel !== openChannel() || isReply(message) || messages.pinned) return;
  if ((message.user === state.user && !message.ephemeral) || hasJustActed())
    messages.setPinned(true);
  else waiting += 1;
  drawJump();
});

async function sendFromChannel(text, files) {
  const channel = openChannel();
  // Whoever asks wants to see the answer, however far up they have read.
  messages.toBottom();
  try {
    if (!text.startsWith("/") || files.length)
      await control.message(state.user, channel, text, { files });
    else await control.command(state.user, channel, text);
    return null;
  } catch (error) {
    // Slackbot tells these two in the channel; the box only keeps what was typed.
    if (state.online && ["app_not_connected", "unknown_command"].includes(error.code))
      return KEEP_TEXT;
    return explain(error.code, error.message);
  }
}

export function openShortcuts(anchor = bolt) {
  const shortcuts = (state.directory.app.shortcuts ?? []).filter(
    (shortcut) => shortcut.type === "global",
  );
  const run = async (shortcut) => {
    try {
      await control.shortcut(state.user, shortcut.callback_id);
    } catch (error) {
      notice(`“${shortcut.name}” did not work: ${explain(error.code, error.message)}`);
    }
  };
  const items = shortcuts.map((shortcut) => ({
    label: shortcut.name,
    detail: shortcut.description,
    mark: icon("bolt"),
    pick: () => run(shortcut),
  }));
  openMenu(
    anchor,
    "Shortcuts",
    items.length
      ? [{ label: "Shortcuts" }, ...items]
      : [{ label: "This app declares no shortcuts." }],
  );
}

/**
 * Goes to one message, wherever it is shown, and marks it for a moment. False when it is not
 * shown.
 */
export function showMessage(ts) {
  const row = [...document.querySelectorAll(".message")]
    .reverse()
    .find((node) => node.dataset.ts === ts);
  if (!row) return false;
  messages.setPinned(false);
  row.scrollIntoView({ block: "center" });
  row.classList.add("message-shown");
  row.focus({ preventScroll: true });
  return true;
}

function drawTips() {
  const { app } = state.directory;
  // The checklist of a demo says the same at length.
  if (recall("tips") === "dismissed" || state.stage) return fill(tips);
  const type = (text) =>
    el("button", { type: "button", class: "try", on: { click: () => composer.set(text) } }, text);
  const away = () => {
    remember("tips", "dismissed");
    drawTips();
    composer.text.focus();
  };
  return fill(
    tips,
    el(
      "section",
      { class: "tips", "aria-label": "What to try" },
      el(
        "div",
        { class: "tips-words" },
        el("span", {}, el("strong", {}, "New here?"), " Try"),
        examplesOf(app.commands ?? []).map(type),
        app.home_tab_enabled &&
          el(
            "button",
            { type: "button", class: "try", on: { click: () => goTo({ kind: "home" }) } },
            icon("home"),
            "Open Home",
          ),
        el("span", { class: "tips-end" }, "and press the buttons in the answers."),
      ),
      iconButton("close", "Dismiss this tip", away),
    ),
  );
}

function startOf(all, kept) {
  return kept.from
    ? Math.max(
        0,
        all.findIndex((message) => Number(message.ts) >= Number(kept.from)),
      )
    : 0;
}

/**
 * The rows that stand: at the end of a long channel only its last ones, so that thousands cost
 * nothing.
 */
function rowsOf(all, kept) {
  let start = startOf(all, kept);
  if (messages.pinned && all.length - start > ROWS_MOST) {
    start = all.length - ROWS_KEPT;
    kept.from = all[start].ts;
  }
  return all.slice(start);
}

function drawReading(isLoaded) {
  scroller.setAttribute("aria-busy", String(!isLoaded));
  reading.hidden = isLoaded;
  reading.textContent = state.problem ? "The messages couldn't be loaded." : "Loading…";
}

function drawStart(channel, hasEarlier) {
  const kept = conversation(channel.id);
  earlier.hidden = !hasEarlier;
  empty.hidden = hasEarlier || !kept.loaded;
  fill(
    empty,
    el(
      "h2",
      {},
      `${channel.kind === "public" || channel.kind === "private" ? "#" : ""}${channel.name}`,
    ),
    el(
      "p",
      {},
      channel.kind === "private"
        ? "This is the beginning of this private channel."
        : "This is the beginning of this conversation.",
    ),
    kept.loaded && kept.messages.size === 0 && el("p", {}, "There are no messages yet."),
    !channel.bot_is_member &&
      channel.kind !== "im" &&
      el("p", {}, `${state.directory.app.name} is not a member here.`),
  );
}

function draw() {
  const id = openChannel();
  const channel = state.directory?.channels.find((one) => one.id === id);
  channelBody.hidden = !channel;
  if (!channel) return;
  const kept = conversation(id);
  if (shownChannel !== `${state.user}/${id}`) {
    drafts.set(shownChannel, composer.text.value);
    shownChannel = `${state.user}/${id}`;
    composer.text.value = drafts.get(shownChannel) ?? "";
    composer.typed();
    messages.clear(id);
    waiting = 0;
    drawJump();
    kept.line = kept.firstUnread;
    kept.firstUnread = null;
    kept.unread = 0;
  }
  const name = `${channel.kind === "im" ? "" : "#"}${channel.name}`;
  list.setAttribute("aria-label", `Messages in ${name}`);
  composer.text.placeholder = channel.is_archived
    ? `${name} is archived`
    : `Message ${name} or type /`;
  composer.text.disabled = Boolean(channel.is_archived);
  const all = channelMessages(id);
  const rows = rowsOf(all, kept);
  drawReading(kept.loaded);
  drawStart(channel, kept.more || rows.length < all.length);
  messages.update(rows, state.directory, { firstUnread: kept.line });
}

watch(["messages", "place", "directory", "connection"], draw);
watch(["directory", "stage"], () => state.directory && drawTips());
