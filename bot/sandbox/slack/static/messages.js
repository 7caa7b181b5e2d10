// Draws a list of messages and keeps it drawn: only rows whose message changed are made again.

import { renderBlocks } from "./blocks.js";
import { clockTime, dayKey, dayName, fullTime, momentOf } from "./dates.js";
import { el, fill, icon, iconButton, keepFocus } from "./dom.js";
import { attachmentNodes, fileNodes, reactionNodes } from "./extras.js";
import { personName } from "./mentions.js";
import { openMessageMenu } from "./message-menu.js";
import { renderMrkdwn } from "./mrkdwn.js";
import { isReply } from "./state.js";
import { Surface } from "./surface.js";

const GROUPED_SECONDS = 300;

export function authorOf(message, directory) {
  const user = directory.users.find((one) => one.id === message.user);
  return {
    name: user ? personName(user) : message.username || directory.app.name,
    isApp: Boolean(message.is_bot || user?.is_bot),
    id: message.user ?? message.username ?? "app",
  };
}

export function avatar({ name, isApp, id }, size = "") {
  const initials = name
    .split(/[\s_-]+/)
    .filter(Boolean)
    .slice(0, 2)
    .map((word) => [...word][0].toUpperCase())
    .join("");
  const tint = [...id].reduce((sum, character) => (sum * 31 + character.codePointAt(0)) % 8, 7);
  return el(
    "span",
    { class: `avatar tint-${tint} ${isApp ? "avatar-app" : ""} ${size}`, "aria-hidden": "true" },
    initials || "?",
  );
}

const tool = (row, name) => row.querySelector(`.message-tools [data-focus^="${name}:"]`);

export class MessageList {
  /**
   * `scroller` scrolls, `list` holds the rows; `actions` = { reply, dismiss, openRoot };
   * `inThread` hides what only a channel shows.
   */
  constructor({ scroller, list, channel, actions, inThread = false, onPinned = () => {} }) {
    Object.assign(this, { scroller, list, channel, actions, inThread, onPinned });
    this.rows = new Map();
    // What was chosen in the menus of each message: they keep it while their ids stay the same, as
    // in Slack.
    this.chosen = new Map();
    this.pinned = true;
    this.lastTop = 0;
    this.scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.scroller.addEventListener("keydown", (event) => this.walk(event));
    this.list.addEventListener("focusin", (event) =>
      this.offerTools(event.target.closest(".message")),
    );
    new ResizeObserver(() => this.pinned && this.toBottom()).observe(this.list);
    new ResizeObserver(() => this.pinned && this.toBottom()).observe(this.scroller);
  }

  distance() {
    return this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight;
  }

  /**
   * Only a person scrolling up unpins: rows that grow as they come into view move the end away,
   * not the reader.
   */
  scrolled() {
    const top = this.scroller.scrollTop;
    const at = this.distance();
    if (at < 48) this.setPinned(true);
    else if (top < this.lastTop - 1) this.setPinned(false);
    else if (this.pinned) return this.toBottom();
    this.lastTop = top;
  }

  setPinned(pinned) {
    if (pinned === this.pinned) return;
    this.pinned = pinned;
    this.onPinned(pinned);
  }

  /**
   * With the keyboard: arrows go from message to message, R replies to the one that has the focus.
   */
  walk(event) {
    const row = event.target.closest(".message");
    if (event.target !== this.scroller && event.target !== row) return;
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const rows = [...this.list.querySelectorAll(":scope > .message")];
    const at = rows.indexOf(row);
    const moves = {
      ArrowUp: at < 0 ? rows.length - 1 : at - 1,
      ArrowDown: at < 0 ? rows.length - 1 : at + 1,
      Home: 0,
      End: rows.length - 1,
    };
    if (event.key in moves) rows[Math.max(0, Math.min(moves[event.key], rows.length - 1))]?.focus();
    else if (event.key.toLowerCase() === "r" && row) tool(row, "reply")?.click();
    else if (event.key.toLowerCase() === "m" && row) tool(row, "more")?.click();
    else return;
    event.preventDefault();
  }

  /**
   * The tools of a message are reached by Tab from that message only, not one by one through all
   * of them.
   */
  offerTools(row) {
    if (this.offered && this.offered !== row)
      for (const tool of this.offered.querySelectorAll(".message-tools button")) tool.tabIndex = -1;
    this.offered = row;
    if (row) for (const tool of row.querySelectorAll(".message-tools button")) tool.tabIndex = 0;
  }

  toBottom() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
    // Rows that are drawn again are lower until they come into view: nobody has scrolled up.
    this.lastTop = this.scroller.scrollTop;
    this.setPinned(true);
  }

  /** `firstUnread`: the ts above which the “New” line is drawn. */
  update(messages, directory, { firstUnread = null } = {}) {
    const wanted = this.plan(messages, directory, firstUnread);
    keepFocus(
      this.list,
      () => this.reconcile(wanted),
      () => document.getElementById("composer-text"),
    );
    if (this.pinned) this.toBottom();
  }

  /**
   * The rows in order, each with a key, a signature that says when it must be made again, and how
   * to make it.
   */
  plan(messages, directory, firstUnread) {
    const rows = [];
    let before = null;
    let day = null;
    for (const message of messages) {
      if (dayKey(message.ts) !== day && !(this.inThread && !day)) {
        const name = dayName(message.ts);
        rows.push({
          key: `day:${dayKey(message.ts)}`,
          signature: name,
          make: () => el("li", { class: "day" }, el("span", {}, name)),
        });
        before = null;
      }
      day = dayKey(message.ts);
      if (message.ts === firstUnread) {
        rows.push({
          key: "new",
          signature: "",
          make: () => el("li", { class: "new-line" }, el("span", {}, "New")),
        });
        before = null;
      }
      const grouped = before && this.belongsTo(before, message);
      const count = this.inThread ? 0 : (message.reply_count ?? 0);
      const signature = JSON.stringify([message, Boolean(grouped), count, directory.names]);
      rows.push({
        key: message.ts,
        signature,
        make: () => this.row(message, grouped, count, directory),
      });
      if (this.inThread && message === messages[0] && messages.length > 1) {
        const words = `${messages.length - 1} ${messages.length === 2 ? "reply" : "replies"}`;
        rows.push({
          key: "replies",
          signature: words,
          make: () => el("li", { class: "day replies" }, el("span", {}, words)),
        });
        before = null;
      } else {
        before = message;
      }
    }
    return rows;
  }

  belongsTo(before, message) {
    return (
      before.user === message.user &&
      !before.ephemeral === !message.ephemeral &&
      !message.broadcast &&
      Number(message.ts) - Number(before.ts) < GROUPED_SECONDS
    );
  }

  reconcile(wanted) {
    const keys = new Set(wanted.map((row) => row.key));
    for (const [key, row] of this.rows) {
      if (keys.has(key)) continue;
      row.node.remove();
      this.rows.delete(key);
    }
    let previous = null;
    for (const { key, signature, make } of wanted) {
      let row = this.rows.get(key);
      if (!row || row.signature !== signature) {
        const node = make();
        row?.node.replaceWith(node);
        row = { node, signature };
        this.rows.set(key, row);
      }
      const next = previous ? previous.nextElementSibling : this.list.firstElementChild;
      if (row.node !== next) this.list.insertBefore(row.node, next);
      previous = row.node;
    }
  }

  row(message, grouped, count, directory) {
    const author = authorOf(message, directory);
    const time = el(
      "time",
      { datetime: momentOf(message.ts).toISOString(), title: fullTime(momentOf(message.ts)) },
      clockTime(message.ts),
    );
    const head = el(
      "div",
      { class: "message-head" },
      el("span", { class: "author" }, author.name),
      author.isApp && el("span", { class: "badge" }, "APP"),
      time,
    );
    const short = el(
      "span",
      { class: "side-time", title: time.title },
      clockTime(message.ts).replace(/ [AP]M$/, ""),
    );
    const side = grouped
      ? el("span", { class: "message-side", "aria-hidden": "true" }, short)
      : el("span", { class: "message-side" }, avatar(author));
    return el(
      "li",
      {
        class: `message ${grouped ? "message-grouped" : ""} ${message.ephemeral ? "message-ephemeral" : ""}`,
        tabindex: -1,
        dataset: { ts: message.ts, focus: `message:${message.ts}` },
      },
      message.broadcast && !this.inThread && this.broadcastLine(message),
      side,
      el(
        "div",
        { class: "message-main" },
        grouped
          ? el("span", { class: "unseen" }, `${author.name}, ${clockTime(message.ts)}`)
          : head,
        this.body(message, directory),
        this.footer(message, count, directory),
      ),
      this.tools(message),
    );
  }

  container(message) {
    return {
      type: "message",
      channel: this.channel,
      ts: message.ts,
      ...(message.ephemeral ? { ephemeral: true } : {}),
    };
  }

  chosenIn(message) {
    if (!this.chosen.has(message.ts)) this.chosen.set(message.ts, new Map());
    return this.chosen.get(message.ts);
  }

  body(message, directory) {
    const edited = message.edited && el("span", { class: "edited" }, " (edited)");
    // What a person typed comes as rich text too, but only its text still has the emoji shortcodes.
    if (message.deleted) return el("div", { class: "message-body message-deleted" }, message.text);
    if (message.blocks?.length && authorOf(message, directory).isApp)
      return el(
        "div",
        { class: "message-body blocks" },
        renderBlocks(
          message.blocks,
          new Surface({
            directory,
            container: this.container(message),
            values: this.chosenIn(message),
          }),
        ),
        edited,
      );
    return el(
      "div",
      { class: "message-body message-text" },
      renderMrkdwn(message.text, { directory, names: false }),
      edited,
    );
  }

  footer(message, count, directory) {
    const parts = [
      fileNodes(message.files),
      attachmentNodes(message.attachments, directory, this.container(message)),
      reactionNodes(message.reactions, directory),
    ];
    if (message.ephemeral) {
      parts.push(
        el(
          "div",
          { class: "only-you" },
          icon("eye"),
          "Only visible to you",
          " · ",
          el(
            "button",
            {
              type: "button",
              class: "link-button",
              "aria-label": "Dismiss this message",
              on: { click: () => this.actions.dismiss(message) },
            },
            "Dismiss",
          ),
        ),
      );
    }
    if (count > 0) {
      const words = `${count} ${count === 1 ? "reply" : "replies"}`;
      parts.push(
        el(
          "button",
          {
            type: "button",
            class: "thread-button",
            dataset: { focus: `thread:${message.ts}` },
            on: { click: () => this.actions.reply(message) },
          },
          icon("reply"),
          words,
        ),
      );
    }
    return parts;
  }

  broadcastLine(message) {
    return el(
      "div",
      { class: "broadcast-line" },
      "replied to ",
      el(
        "button",
        {
          type: "button",
          class: "link-button",
          on: { click: () => this.actions.openRoot(message) },
        },
        "a thread",
      ),
    );
  }

  tools(message) {
    if (message.ephemeral || message.deleted) return null;
    const mayReply = !this.inThread && !isReply(message);
    const reply = () => this.actions.reply(message);
    const more = (event) =>
      openMessageMenu(event.currentTarget, this.channel, message, mayReply ? reply : null);
    const reached = (name) => ({ tabindex: -1, dataset: { focus: `${name}:${message.ts}` } });
    return el(
      "div",
      { class: "message-tools" },
      mayReply && iconButton("reply", "Reply in thread", reply, reached("reply")),
      iconButton("more", "Message actions", more, {
        ...reached("more"),
        "aria-haspopup": "menu",
        "aria-expanded": "false",
      }),
    );
  }

  /** Leaves nothing behind, for another channel. */
  clear(channel) {
    this.channel = channel;
    this.rows.clear();
    this.chosen.clear();
    fill(this.list);
    this.pinned = true;
  }
}
