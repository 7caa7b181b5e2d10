// Puts the page together: its regions, its banner, its keys, and what is said aloud.

import { channelBody, composer, openShortcuts, showMessage } from "./channel.js";
import { refreshAgo } from "./dates.js";
import { el, fill, icon, iconButton, keepFocus } from "./dom.js";
import { openHelp } from "./help.js";
import { homeBody } from "./home.js";
import "./modal.js";
import { authorOf } from "./messages.js";
import { renderMrkdwn } from "./mrkdwn.js";
import { applyTheme, recallHere, toggleTheme } from "./preferences.js";
import { count, openPeople, places, samePlace, startSidebar } from "./sidebar.js";
import { focusChecklist, progress, startStage } from "./stage.js";
import {
  become,
  changed,
  conversation,
  goTo,
  isAppChannel,
  loadEarlier,
  loadMessages,
  onArrival,
  onReplacement,
  openChannel,
  openThread,
  state,
  watch,
} from "./state.js";
import { startThread } from "./thread.js";

applyTheme();
const shell = document.getElementById("shell");
const sidebar = document.getElementById("sidebar");
const main = document.getElementById("place");
const stage = el("div", { class: "stage", hidden: true });

const menuButton = iconButton(
  "menu",
  "Channels",
  () => setDrawer(!shell.classList.contains("with-drawer")),
  { class: "icon-button drawer-button", "aria-expanded": "false", "aria-controls": "sidebar" },
);
const stageButton = el("button", {
  type: "button",
  class: "button stage-button",
  hidden: true,
  "aria-expanded": "false",
  "aria-controls": "sidebar",
  on: {
    click: () => {
      setDrawer(true, stageButton);
      focusChecklist(stage);
    },
  },
});
const title = el("h1", {});
const topic = el("p", { class: "topic" });
const tabs = el("nav", { class: "tabs", "aria-label": "The app's tabs", hidden: true });
const banner = el("div", { class: "banner", role: "status", hidden: true });
fill(
  main,
  el(
    "header",
    { class: "place-head" },
    menuButton,
    el("div", { class: "place-words" }, title, topic),
    stageButton,
  ),
  tabs,
  banner,
  channelBody,
  homeBody,
);

watch(["stage"], () => {
  stageButton.hidden = !state.stage;
  if (state.stage) fill(stageButton, `${progress(state.stage.tasks)} steps`);
});

/** What gets the focus back when the drawer is closed. */
let drawerOpener = menuButton;

/** On a narrow screen the sidebar is a drawer. */
function setDrawer(open, opener = menuButton) {
  if (open) drawerOpener = opener;
  shell.classList.toggle("with-drawer", open);
  menuButton.setAttribute("aria-expanded", String(open));
  stageButton.setAttribute("aria-expanded", String(open));
  if (open) sidebar.querySelector("[aria-current]")?.focus();
}
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || !shell.classList.contains("with-drawer"))
    return;
  setDrawer(false);
  drawerOpener.focus();
});
shell.addEventListener("click", (event) => event.target === shell && setDrawer(false));

startSidebar(sidebar, { openHelp, leave: () => setDrawer(false), stage });
startStage(stage, { type: (text) => composer.set(text), leave: () => setDrawer(false) });
startThread(document.getElementById("thread"));

watch(["place", "directory"], () => {
  if (!state.directory) return;
  const channel = state.directory.channels.find((one) => one.id === openChannel());
  if (channel) {
    fill(
      title,
      icon(channel.kind === "private" ? "lock" : channel.kind === "public" ? "hash" : "person"),
      channel.name,
    );
    fill(topic, channel.topic);
  } else {
    fill(title, icon("home"), state.directory.app.name);
    fill(topic);
  }
  drawTabs(channel);
  const unread = [...state.conversations.values()].reduce((sum, one) => sum + one.unread, 0);
  document.title = `${unread ? `(${unread}) ` : ""}${channel ? `#${channel.name}` : state.directory.app.name} · ${state.directory.team.name} (local Slack)`;
});

/** The app has two tabs: its Home and its direct messages. */
function drawTabs(channel) {
  const { app, channels } = state.directory;
  const direct = channels.find(isAppChannel);
  tabs.hidden = Boolean(channel && !isAppChannel(channel)) || !app.home_tab_enabled;
  if (tabs.hidden) return;
  const unread = direct ? conversation(direct.id).unread : 0;
  const tab = (name, place, ...more) =>
    el(
      "button",
      {
        type: "button",
        class: "tab",
        "aria-current": samePlace(place, state.place) ? "page" : null,
        dataset: { focus: `tab:${name}` },
        on: { click: () => goTo(place) },
      },
      name,
      more,
    );
  keepFocus(tabs, () =>
    fill(
      tabs,
      tab("Home", { kind: "home" }),
      direct &&
        app.messages_tab_enabled !== false &&
        tab("Messages", { kind: "channel", id: direct.id }, unread > 0 && count(unread)),
    ),
  );
}

watch(["directory", "connection"], () => {
  const app = state.directory?.app;
  const words = !state.online
    ? "The connection to the local workspace is lost. Trying again…"
    : (state.problem ??
      (app && !app.connected
        ? `${app.name} is not connected: commands and buttons are not answered until it is.`
        : ""));
  banner.hidden = !words;
  banner.classList.toggle("banner-lost", !state.online || Boolean(state.problem));
  fill(banner, icon("warning"), words);
});

const announcer = document.getElementById("announcer");
function say(channel, message) {
  if (channel !== openChannel() || (message.user === state.user && !message.ephemeral)) return;
  const said = renderMrkdwn(message.text, { directory: state.directory }).textContent;
  announcer.append(el("p", {}, `${authorOf(message, state.directory).name}: ${said}`));
  while (announcer.childElementCount > 20) announcer.firstElementChild.remove();
}
onArrival(say);
onReplacement(say);

document.addEventListener("click", (event) => {
  const mention = event.target.closest(".mention-channel");
  if (mention) goTo({ kind: "channel", id: mention.dataset.channel });
});

function step(by) {
  const all = places();
  const at = all.findIndex((place) => samePlace(place, state.place));
  const { kind, id } = all[(at + by + all.length) % all.length];
  goTo(kind === "home" ? { kind } : { kind, id });
}

const WITH_ALT = {
  ArrowUp: () => step(-1),
  ArrowDown: () => step(1),
  KeyH: () => state.directory.app.home_tab_enabled && goTo({ kind: "home" }),
  KeyS: () => (openChannel() ? openShortcuts() : undefined),
  KeyU: () => {
    if (!document.getElementById("person").getClientRects().length) setDrawer(true);
    openPeople(document.getElementById("person"));
  },
  KeyT: () => {
    toggleTheme();
    changed("directory");
  },
};

document.addEventListener("keydown", (event) => {
  if (!state.directory || event.defaultPrevented || document.querySelector("dialog[open]")) return;
  const typing = event.target.matches("input, textarea, select");
  const run = event.altKey && !event.ctrlKey && !event.metaKey ? WITH_ALT[event.code] : null;
  if (run) run();
  else if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  else if (event.key === "?") openHelp();
  else if (event.key === "/" && openChannel()) composer.set("/");
  else return;
  event.preventDefault();
});

/** A permalink names a message: its channel is opened by the state, the message is shown here. */
async function followLink() {
  const link = new URLSearchParams(location.search);
  history.replaceState(null, "", location.pathname);
  const [channel, ts] = [link.get("channel"), link.get("ts")];
  if (!channel || !ts) return;
  const thread = link.get("thread_ts");
  if (thread && thread !== ts) await openThread(channel, thread);
  else await loadMessages(channel);
  const drawn = () =>
    new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  await drawn();
  if (showMessage(ts)) return;
  await loadEarlier(channel);
  await drawn();
  showMessage(ts);
}

setInterval(() => document.hidden || refreshAgo(), 20_000);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => changed("directory"));
await become(new URLSearchParams(location.search).get("user") ?? recallHere("user"));
await followLink();
