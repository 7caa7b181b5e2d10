// A surface is one place where blocks stand (a message, a modal, a Home tab): it keeps what people
// filled in and sends what they do.

import { askConfirmation } from "./confirm.js";
import { control } from "./control.js";
import { el } from "./dom.js";
import { tell, telling } from "./state.js";

const WORDS = {
  operation_timeout: "The app did not answer in time. Try again.",
  app_not_connected: "The app is not connected, so nothing happened.",
  workspace_unreachable: "The local workspace does not answer.",
};

export const explain = (code, detail) =>
  WORDS[code] ?? (detail && detail !== code ? detail : `That did not work (${code}).`);

export class Surface {
  /** `values` outlives the surface, so that a view that is drawn again keeps what was typed. */
  constructor({ directory, container, values = new Map() }) {
    this.directory = directory;
    this.container = container;
    this.values = values;
    this.readers = new Map();
  }

  key(block, element) {
    return `${block.block_id}\u0000${element.action_id}`;
  }

  /** Names an element across redrawings, so that the focus can return to it. */
  focusKey(block, element) {
    return `${this.container.ts ?? this.container.view_id}/${block.block_id}/${element.action_id}`;
  }

  /** Joins a stateful element: `read` gives its payload fields now. */
  register(block, element, read) {
    this.readers.set(this.key(block, element), { block, element, read });
  }

  kept(block, element) {
    return this.values.get(this.key(block, element));
  }

  /** The state of all stateful elements, as Slack sends it: block_id → action_id → fields. */
  state() {
    const values = {};
    for (const { block, element, read } of this.readers.values()) {
      values[block.block_id] ??= {};
      values[block.block_id][element.action_id] = { type: element.type, ...read() };
    }
    return values;
  }

  /**
   * A stateful element changed: in an input block that stays here, unless the block asks for it.
   * False when a confirmation was declined.
   */
  async changed(block, element, fields, node) {
    if (block.type !== "input" || block.dispatch_action) {
      const done = await this.act(block, element, fields, node);
      if (!done) return false;
    }
    this.values.set(this.key(block, element), fields);
    return true;
  }

  /**
   * Sends an action, showing that it is on its way and, when it was not acknowledged, that it
   * failed. False when a person declined.
   */
  async act(block, element, fields, node) {
    if (node.getAttribute("aria-busy") === "true") return false;
    if (element.confirm && !(await askConfirmation(element.confirm, this.directory))) return false;
    clearFailure(node);
    node.setAttribute("aria-busy", "true");
    try {
      const answer = await telling(() =>
        control.action({
          user: this.directory.viewer.id,
          container: this.container,
          block_id: block.block_id,
          action_id: element.action_id,
          type: element.type,
          // A message may be edited while a confirmation is open: what is pressed then still
          // reaches the app.
          not_redrawn: true,
          ...fields,
          ...(this.container.type === "view" ? { values: this.state() } : {}),
        }),
      );
      if (answer.acknowledged === false)
        this.fail(node, explain(answer.error ?? "operation_timeout", answer.detail));
    } catch (error) {
      this.fail(node, explain(error.code ?? "unknown_error", error.message));
    } finally {
      node.removeAttribute("aria-busy");
    }
    return true;
  }

  /** Says that it failed where the element stands now, else, where it is gone, as Slackbot. */
  fail(node, words) {
    const again = node.isConnected
      ? node
      : [...document.querySelectorAll("[data-focus]")].find(
          (one) => one.dataset.focus === node.dataset.focus,
        );
    if (again) showFailure(again, words);
    else tell(words, this.container.channel);
  }
}

function clearFailure(node) {
  node.closest(".block")?.querySelector(":scope > .failure")?.remove();
}

function showFailure(node, words) {
  clearFailure(node);
  const place = node.closest(".block") ?? node.parentElement;
  place?.append(el("div", { class: "failure", role: "alert" }, words));
}
