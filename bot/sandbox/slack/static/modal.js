// The app's modals: the top of this person's stack of views, filled in, checked, submitted and
// closed.

import { renderBlocks } from "./blocks.js";
import { control } from "./control.js";
import { focusFirst, openDialog } from "./dialog.js";
import { el, fill, iconButton, keepFocus } from "./dom.js";
import { renderPlain } from "./mrkdwn.js";
import { loadViews, state, telling, watch } from "./state.js";
import { explain, Surface } from "./surface.js";
import { checkValues } from "./validation.js";

let open = null;
let values = new Map();

watch(["views"], draw);

function draw() {
  const view = state.views.at(-1);
  if (!view) {
    if (open) open.close();
    values = new Map();
    return;
  }
  if (!open) open = makeFrame();
  if (open.shown === `${view.id}/${view.hash}/${state.views.length}`) return;
  const another = open.view?.id !== view.id;
  open.shown = `${view.id}/${view.hash}/${state.views.length}`;
  open.view = view;
  keepFocus(open.dialog, () => fillFrame(view));
  if (another || !open.dialog.contains(document.activeElement)) focusFirst(open.dialog);
}

function makeFrame() {
  const frame = openDialog({
    label: "Modal",
    className: "dialog modal",
    content: ({ titleId }) => el("h2", { class: "modal-title", id: titleId }),
    // The view leaves the stack first; the dialog follows the stack.
    escaped: () => {
      leave();
      return false;
    },
    closed: () => (open = null),
  });
  return { ...frame, view: null, shown: null };
}

/** What the workspace still holds of a form that was open when the page was loaded. */
function keptBefore(view) {
  const kept = new Map();
  for (const [block, actions] of Object.entries(view.state?.values ?? {}))
    for (const [action, fields] of Object.entries(actions))
      kept.set(`${block}\u0000${action}`, fields);
  return kept;
}

async function leave() {
  const { view } = open;
  try {
    await control.close(view.id, state.user);
  } catch (error) {
    if (error.code === "workspace_unreachable") showTrouble(error.message);
  }
  await loadViews().catch((error) => showTrouble(error.message));
}

function fillFrame(view) {
  // Values live as long as the view, so that an update keeps what was typed in blocks that stay.
  if (!values.has(view.id)) values.set(view.id, keptBefore(view));
  const surface = new Surface({
    directory: state.directory,
    container: { type: "view", view_id: view.id },
    values: values.get(view.id),
  });
  const deep = state.views.length > 1;
  const submit = () => send(view, surface);
  const plain = (object, otherwise) =>
    object?.text ? renderPlain(object.text, object.emoji !== false) : otherwise;
  const form = el("div", { class: "dialog-body blocks" }, renderBlocks(view.blocks, surface));
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !view.submit || event.defaultPrevented) return;
    const wanted =
      event.ctrlKey ||
      event.metaKey ||
      (event.target.matches("input.field-input") && !event.isComposing);
    if (!wanted) return;
    event.preventDefault();
    submit();
  });
  fill(
    open.dialog,
    el(
      "header",
      { class: "modal-head" },
      deep && iconButton("back", "Back", leave),
      el(
        "span",
        { class: "avatar avatar-app avatar-small tint-7", "aria-hidden": "true" },
        [...state.directory.app.name][0],
      ),
      el("h2", { class: "modal-title", id: open.titleId }, plain(view.title, "")),
      iconButton("close", "Close", leave),
    ),
    form,
    el("div", { class: "modal-trouble", role: "alert" }),
    el(
      "footer",
      { class: "dialog-buttons" },
      el(
        "button",
        { type: "button", class: "button", on: { click: leave } },
        plain(view.close, view.submit ? "Cancel" : "Close"),
      ),
      view.submit &&
        el(
          "button",
          {
            type: "button",
            disabled: view.submit_disabled === true,
            class: "button button-primary modal-submit",
            dataset: { focus: "modal-submit" },
            on: { click: submit },
          },
          plain(view.submit, "Submit"),
        ),
    ),
  );
}

const showTrouble = (words) => open && fill(open.dialog.querySelector(".modal-trouble"), words);

async function send(view, surface) {
  const button = open.dialog.querySelector(".modal-submit");
  if (button.getAttribute("aria-busy") === "true") return;
  const filled = surface.state();
  showTrouble("");
  const wrong = checkValues(view.blocks, filled);
  if (showErrors(wrong)) return;
  button.setAttribute("aria-busy", "true");
  open.dialog.classList.add("modal-busy");
  try {
    const answer = await telling(() => control.submit(view.id, state.user, filled));
    if (answer.response_action === "errors")
      showErrors(answer.errors ?? {}) || showTrouble("The app refused this without saying why.");
    else if (answer.acknowledged === false || answer.error)
      showTrouble(
        `We had some trouble connecting. ${explain(answer.error ?? "operation_timeout")}`,
      );
    else await loadViews();
  } catch (error) {
    showTrouble(explain(error.code, error.message));
  } finally {
    button.removeAttribute("aria-busy");
    open?.dialog.classList.remove("modal-busy");
  }
}

/** Writes each error under its block and goes to the first. True when there was one to show. */
function showErrors(errors) {
  let first = null;
  for (const block of open.dialog.querySelectorAll("[data-input]")) {
    const words = errors[block.dataset.input];
    const line = block.querySelector(".input-error");
    const field = block.querySelector("input, textarea, select, button");
    block.classList.toggle("block-wrong", Boolean(words));
    line.hidden = !words;
    fill(line, words ?? "");
    if (words) {
      field?.setAttribute("aria-invalid", "true");
      first ??= field ?? block;
    } else {
      field?.removeAttribute("aria-invalid");
    }
  }
  const elsewhere = Object.entries(errors).filter(
    ([block]) =>
      ![...open.dialog.querySelectorAll("[data-input]")].some(
        (node) => node.dataset.input === block,
      ),
  );
  if (elsewhere.length) showTrouble(elsewhere.map(([, words]) => words).join(" "));
  first?.focus();
  first?.closest(".block")?.scrollIntoView({ block: "nearest" });
  return Boolean(first) || elsewhere.length > 0;
}
