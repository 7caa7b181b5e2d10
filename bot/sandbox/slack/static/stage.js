// The demo's own part of the sidebar: a checklist that ticks itself, and what can be made to happen.

import { control } from "./control.js";
import { el, fill, icon, keepFocus } from "./dom.js";
import { personName } from "./mentions.js";
import { openMenu } from "./popup.js";
import { become, changed, goTo, state, watch } from "./state.js";
import { explain } from "./surface.js";
import { toast } from "./toast.js";

/** The task that somebody opened, until that is ticked; else the first one left is open. */
let opened = { name: null, isDone: false };
let busy = false;
let endRefusal = () => {};

const openTask = (tasks) =>
  tasks.find((task) => task.name === opened.name && task.is_done === opened.isDone) ??
  tasks.find((task) => !task.is_done);

const STILL_TOLD =
  "Acme's engineers are working through last night and this morning. The steps open in a moment.";

export const progress = (tasks) =>
  `${tasks.filter((task) => task.is_done).length} of ${tasks.length}`;

/** The step that somebody should see first in an opened sidebar. */
export function focusChecklist(root) {
  const openStep = root.querySelector(".task-title[aria-expanded='true']");
  const step = openStep ?? root.querySelector(".task-title");
  step?.focus();
}

/** Keeps `root` drawn; `type` puts words into the message box. Without a stage it stays empty. */
export function startStage(root, { type, leave }) {
  const draw = () => {
    root.hidden = !state.stage || !state.directory;
    if (root.hidden) return;
    const { is_open: canBegin, tasks, triggers } = state.stage;
    const sections = [checklist(tasks, { canBegin, type, leave }), canBegin && panel(triggers)];
    keepFocus(root, () => fill(root, sections));
  };
  watch(["stage", "directory"], draw);
}

function checklist(tasks, { canBegin, type, leave }) {
  const shown = openTask(tasks);
  return el(
    "section",
    { class: "sidebar-group", "aria-label": "First steps" },
    el(
      "h2",
      { class: "stage-head" },
      "First steps",
      el("span", { class: "stage-progress" }, progress(tasks)),
    ),
    !canBegin && el("p", { class: "stage-note" }, STILL_TOLD),
    el(
      "ol",
      { class: "tasks" },
      tasks.map((task) => taskRow(task, task === shown, { canBegin, type, leave })),
    ),
    tasks.every((task) => task.is_done) &&
      el("p", { class: "task-hint" }, "That's the tour. The README says how to set it up."),
  );
}

function taskRow(task, isOpen, { canBegin, type, leave }) {
  const toggle = () => {
    opened = isOpen ? { name: null, isDone: false } : { name: task.name, isDone: task.is_done };
    changed("stage");
  };
  return el(
    "li",
    { class: `task ${task.is_done ? "task-done" : ""}` },
    el(
      "button",
      {
        type: "button",
        class: "task-title",
        "aria-expanded": String(isOpen),
        dataset: { focus: `task:${task.name}` },
        on: { click: toggle },
      },
      el("span", { class: "task-mark", "aria-hidden": "true" }, task.is_done && icon("check")),
      task.title,
      task.is_done && el("span", { class: "unseen" }, "(done)"),
    ),
    isOpen && el("p", { class: "task-hint" }, task.hint),
    isOpen && canBegin && tryButton(task, { type, leave }),
  );
}

function tryButton(task, { type, leave }) {
  const person = state.directory.users.find((user) => user.id === task.person);
  if (person ? person.id === state.user : !task.command) return null;
  const run = person
    ? () => become(person.id)
    : () => {
        const { channels } = state.directory;
        const channel = channels.find((one) => one.bot_is_member && one.is_member);
        goTo({ kind: "channel", id: channel.id });
        type(task.command);
      };
  return el(
    "button",
    {
      type: "button",
      class: "task-try",
      dataset: { focus: `try:${task.name}` },
      on: {
        click: () => {
          leave();
          run();
        },
      },
    },
    person ? `Become ${personName(person)}` : task.command,
  );
}

function panel(triggers) {
  const lasting = triggers.filter((trigger) => trigger.is_on);
  return el(
    "section",
    { class: "sidebar-group", "aria-label": "What if…" },
    el(
      "button",
      {
        type: "button",
        class: "task-try",
        "aria-haspopup": "menu",
        "aria-expanded": "false",
        "aria-busy": String(busy),
        dataset: { focus: "what-if" },
        on: { click: (event) => openTriggers(event.currentTarget, triggers) },
      },
      icon("bolt"),
      busy ? "One moment…" : "What if…",
    ),
    lasting.map((trigger) =>
      el(
        "button",
        {
          type: "button",
          class: "task-try task-lasting",
          dataset: { focus: `end:${trigger.name}` },
          on: { click: () => bringAbout(trigger) },
        },
        icon("close"),
        `End: ${trigger.label}`,
      ),
    ),
  );
}

function openTriggers(anchor, triggers) {
  openMenu(anchor, "What if…", [
    { label: "Make something happen" },
    ...triggers.map((trigger) => ({
      label: trigger.is_on ? `End: ${trigger.label}` : trigger.label,
      detail: trigger.detail,
      pick: () => bringAbout(trigger),
    })),
  ]);
}

async function bringAbout(trigger) {
  if (busy) return;
  busy = true;
  endRefusal();
  changed("stage");
  try {
    const { stage } = await control.bringAbout(trigger.name);
    state.stage = stage;
  } catch (error) {
    endRefusal = toast(explain(error.code, error.message));
  } finally {
    busy = false;
    changed("stage");
  }
}
