// The workspace's side: its channels, the app, and who is looking.

import { el, fill, icon, iconButton, keepFocus } from "./dom.js";
import { personName } from "./mentions.js";
import { avatar } from "./messages.js";
import { openMenu } from "./popup.js";
import { shownTheme, toggleTheme } from "./preferences.js";
import { become, conversation, goTo, isAppChannel, state, watch } from "./state.js";

export function startSidebar(root, { openHelp, leave, stage }) {
  let drawn = null;
  const draw = () => {
    if (!state.directory) return;
    const unread = state.directory.channels.map((channel) => conversation(channel.id).unread);
    const signature = JSON.stringify([
      state.directory,
      state.place,
      state.online,
      unread,
      shownTheme(),
    ]);
    if (signature === drawn) return;
    drawn = signature;
    keepFocus(root, () => fill(root, top(), body(leave, stage), bottom(openHelp, draw)));
  };
  watch(["directory", "place", "connection"], draw);
}

function top() {
  const { team } = state.directory;
  return el(
    "div",
    { class: "sidebar-top" },
    el("span", { class: "team-mark", "aria-hidden": "true" }, [...team.name][0]),
    el(
      "div",
      {},
      el("div", { class: "team-name" }, team.name),
      el("div", { class: "team-kind" }, "Local Slack workspace"),
    ),
  );
}

/** The order the channels stand in, which the keyboard follows too. */
export function places() {
  const { channels, app } = state.directory;
  const kinds = (wanted) =>
    channels
      .filter((channel) => wanted.includes(channel.kind) && !isAppChannel(channel))
      .map((channel) => ({ kind: "channel", id: channel.id, channel }));
  return [
    ...kinds(["public", "private"]),
    ...kinds(["im", "mpim"]),
    ...(app.home_tab_enabled ? [{ kind: "home" }] : []),
  ];
}

export const samePlace = (one, other) => one?.kind === other?.kind && one?.id === other?.id;

function body(leave, stage) {
  const all = places();
  const group = (title, items) =>
    items.length > 0 &&
    el(
      "section",
      { class: "sidebar-group" },
      el("h2", {}, title),
      el(
        "ul",
        {},
        items.map((item) => el("li", {}, item)),
      ),
    );
  const rooms = all.filter(
    ({ channel }) => channel && ["public", "private"].includes(channel.kind),
  );
  const direct = all.filter(({ channel }) => channel && ["im", "mpim"].includes(channel.kind));
  return el(
    "div",
    { class: "sidebar-body" },
    group(
      "Channels",
      rooms.map((place) => channelLink(place, leave)),
    ),
    group(
      "Direct messages",
      direct.map((place) => channelLink(place, leave)),
    ),
    group("Apps", [appLink(leave)]),
    stage,
  );
}

function channelLink(place, leave) {
  const { channel } = place;
  const unread = conversation(channel.id).unread;
  const current = samePlace(place, state.place);
  return el(
    "button",
    {
      type: "button",
      class: `place-link ${unread ? "place-unread" : ""}`,
      "aria-current": current ? "page" : null,
      dataset: { focus: `place:${channel.id}`, channel: channel.id },
      on: {
        click: () => {
          goTo({ kind: "channel", id: channel.id });
          leave();
        },
      },
    },
    icon(channel.kind === "private" ? "lock" : channel.kind === "public" ? "hash" : "person"),
    el("span", { class: "place-name" }, channel.name),
    channel.is_private && channel.kind === "private" && unseen("private"),
    channel.is_archived && el("span", { class: "place-note" }, "archived"),
    channel.is_ext_shared && [
      el("span", { class: "place-note" }, "shared"),
      unseen("with another organisation"),
    ],
    unread > 0 && count(unread),
  );
}

/** Said aloud beside what is seen; a label of its own would have to repeat all of it. */
const unseen = (words) => el("span", { class: "unseen" }, words);

export const count = (unread) => [
  el("span", { class: "count" }, unread > 99 ? "99+" : unread),
  unseen("new"),
];

function appLink(leave) {
  const { app } = state.directory;
  const connected = app.connected && state.online;
  const messages = state.directory.channels.find(isAppChannel);
  const isOpen = state.place?.kind === "home" || (messages && state.place?.id === messages.id);
  const unread = messages ? conversation(messages.id).unread : 0;
  const content = [
    icon("home"),
    el("span", { class: "place-name" }, app.name),
    unseen(connected ? "connected" : "not connected"),
    unread > 0 && count(unread),
    el("span", {
      class: `presence ${connected ? "presence-on" : ""}`,
      "aria-hidden": "true",
      title: connected ? "Connected" : "Not connected",
    }),
  ];
  if (!app.home_tab_enabled) return el("div", { class: "place-link" }, content);
  // What is new is in the direct messages; else the Home tab has more to show.
  const target = unread > 0 ? { kind: "channel", id: messages.id } : { kind: "home" };
  return el(
    "button",
    {
      type: "button",
      class: `place-link ${unread ? "place-unread" : ""}`,
      "aria-current": isOpen ? "page" : null,
      dataset: { focus: "place:home" },
      on: {
        click: () => {
          goTo(target);
          leave();
        },
      },
    },
    content,
  );
}

export function openPeople(anchor) {
  const people = state.directory.users.filter((user) => !user.is_bot && !user.deleted);
  openMenu(anchor, "Who are you?", [
    { label: "Look at the workspace as" },
    ...people.map((user) => ({
      label: personName(user),
      detail: [
        `@${user.name}`,
        user.kind && !["member", "full"].includes(user.kind) && user.kind.replaceAll("_", " "),
      ]
        .filter(Boolean)
        .join(" · "),
      mark: avatar({ name: personName(user), id: user.id }, "avatar-small"),
      checked: user.id === state.user,
      pick: () => user.id !== state.user && become(user.id),
    })),
  ]);
}

function bottom(openHelp, draw) {
  const { viewer } = state.directory;
  const dark = shownTheme() === "dark";
  const theme = () => {
    toggleTheme();
    draw();
  };
  return el(
    "div",
    { class: "sidebar-bottom" },
    el(
      "button",
      {
        type: "button",
        id: "person",
        class: "person",
        "aria-haspopup": "menu",
        "aria-expanded": "false",
        dataset: { focus: "person" },
        on: { click: (event) => openPeople(event.currentTarget) },
      },
      avatar({ name: personName(viewer), id: viewer.id }, "avatar-small"),
      unseen("You are"),
      el("span", { class: "place-name" }, personName(viewer)),
      unseen("switch person"),
      icon("down"),
    ),
    iconButton(dark ? "sun" : "moon", dark ? "Light theme" : "Dark theme", theme, {
      id: "theme",
      dataset: { focus: "theme" },
    }),
    iconButton("help", "Keyboard and help", openHelp, { dataset: { focus: "help" } }),
  );
}
