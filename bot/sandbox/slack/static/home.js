// The app's Home tab, as the app published it for this person.

import { renderBlocks } from "./blocks.js";
import { el, fill, keepFocus } from "./dom.js";
import { state, watch } from "./state.js";
import { Surface } from "./surface.js";

export const homeBody = el("div", {
  class: "home scroller",
  tabindex: 0,
  role: "region",
  "aria-label": "Home tab",
});
const values = new Map();
let drawn = null;

const WAITING = {
  waiting: "Loading…",
  unconnected:
    "The app is not connected, so it cannot show its Home tab. Start the app, then open this again.",
  unanswered: "The app did not answer in time. Open this again.",
  answered: "The app has not published a Home tab for you yet.",
};

function draw() {
  const open = state.place?.kind === "home" && state.directory;
  homeBody.hidden = !open;
  if (!open) return;
  const { home } = state;
  homeBody.setAttribute("aria-busy", String(!home && state.homeAsked === "waiting"));
  const signature = JSON.stringify([
    home,
    home ? null : state.homeAsked,
    state.user,
    state.directory.users,
    state.directory.channels,
  ]);
  if (signature === drawn) return;
  drawn = signature;
  if (!home) {
    fill(
      homeBody,
      el("p", { class: "home-empty", role: "status" }, WAITING[state.homeAsked] ?? WAITING.waiting),
    );
    return;
  }
  const surface = new Surface({
    directory: state.directory,
    container: { type: "view", view_id: home.id },
    values,
  });
  keepFocus(
    homeBody,
    () =>
      fill(
        homeBody,
        el("div", { class: "blocks home-blocks" }, renderBlocks(home.blocks, surface)),
      ),
    () => homeBody,
  );
}

watch(["home", "place", "directory"], draw);
