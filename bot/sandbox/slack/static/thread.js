// The thread beside the channel: its root, its replies and a box for one more.

import { dismiss } from "./channel.js";
import { Composer } from "./composer.js";
import { control } from "./control.js";
import { el, fill, iconButton } from "./dom.js";
import { MessageList } from "./messages.js";
import { closeThread, state, threadMessages, watch } from "./state.js";
import { explain } from "./surface.js";

const broadcast = el("input", { type: "checkbox", id: "broadcast" });

export function startThread(root) {
  const list = el("ol", {
    class: "messages",
    role: "list",
    "aria-label": "Messages in the thread",
  });
  const scroller = el(
    "div",
    { class: "scroller", tabindex: 0, role: "region", "aria-label": "Thread messages" },
    list,
  );
  const reading = el("p", { class: "reading", role: "status" }, "Loading…");
  const title = el("span", { class: "thread-place" });
  const shut = () => {
    const { ts } = state.thread;
    closeThread();
    const opener =
      [...document.querySelectorAll("[data-focus]")].find(
        (node) => node.dataset.focus === `thread:${ts}`,
      ) ?? document.getElementById("composer-text");
    opener.focus();
  };
  const composer = new Composer({
    id: "thread-text",
    label: "Reply",
    placeholder: "Reply…",
    send,
    commands: () => [],
    below: el("label", { class: "broadcast-choice" }, broadcast, "Also send to the channel"),
  });
  const messages = new MessageList({
    scroller,
    list,
    channel: null,
    inThread: true,
    actions: {
      dismiss: (message) => dismiss(state.thread.channel, message),
      reply: () => {},
      openRoot: () => {},
    },
  });
  fill(
    root,
    el(
      "header",
      { class: "place-head" },
      el("h1", {}, "Thread ", title),
      el("div", { class: "place-tools" }, iconButton("close", "Close the thread", shut)),
    ),
    el("div", { class: "jump-place" }, reading),
    scroller,
    composer.node,
  );
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    shut();
  });
  let shown = null;
  const draw = () => {
    root.hidden = !state.thread || !state.directory;
    document.getElementById("shell").classList.toggle("with-thread", !root.hidden);
    if (root.hidden) {
      shown = null;
      return;
    }
    const { channel, ts, isLoaded } = state.thread;
    const key = `${state.user}/${channel}/${ts}`;
    if (shown !== key) {
      messages.clear(channel);
      fill(title, `#${state.directory.channels.find((one) => one.id === channel)?.name ?? ""}`);
    }
    scroller.setAttribute("aria-busy", String(!isLoaded));
    reading.hidden = isLoaded;
    messages.update(threadMessages(channel, ts), state.directory);
    if (shown !== key) composer.text.focus();
    shown = key;
  };
  watch(["thread", "directory", "messages"], draw);
}

async function send(text, files) {
  if (text.startsWith("/"))
    return "Slash commands cannot be used in threads. Type it in the channel, or use a button.";
  try {
    await control.message(state.user, state.thread.channel, text, {
      thread: state.thread.ts,
      files,
      broadcast: broadcast.checked,
    });
    broadcast.checked = false;
    return null;
  } catch (error) {
    return explain(error.code, error.message);
  }
}
