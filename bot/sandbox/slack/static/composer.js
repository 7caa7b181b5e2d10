// The message box: text, slash commands with their suggestions, and the commands typed before.

import { el, fill, icon, iconButton, uniqueId } from "./dom.js";
import { recall, remember } from "./preferences.js";
import { suggest } from "./suggestions.js";

const HISTORY = 50;

/** What `send` resolves to when the text was not taken and the reason is told elsewhere. */
export const KEEP_TEXT = Symbol("keep the text");

export class Composer {
  /**
   * `send(text, files)` resolves to an error sentence, or to nothing when all went well;
   * `commands()` are the declared ones.
   */
  constructor({ id, label, placeholder, send, commands, extra, below }) {
    this.send = send;
    this.commands = commands;
    this.at = -1;
    this.back = 0;
    this.listId = uniqueId("suggestions");
    this.text = el("textarea", {
      id,
      rows: 1,
      class: "composer-text",
      placeholder,
      "aria-label": label,
      autocomplete: "off",
      "aria-autocomplete": "list",
      "aria-haspopup": "listbox",
      "aria-controls": this.listId,
      "aria-describedby": `${id}-error`,
      dataset: { focus: id },
    });
    this.list = el("ul", {
      class: "suggestions",
      role: "listbox",
      id: this.listId,
      "aria-label": "Suggestions",
      hidden: true,
    });
    this.error = el("div", { class: "composer-error", id: `${id}-error`, role: "alert" });
    this.button = el(
      "button",
      {
        type: "button",
        class: "send",
        "aria-label": "Send",
        title: "Send",
        on: { click: () => this.submit() },
      },
      icon("send"),
    );
    this.files = [];
    this.attached = el("div", { class: "files" });
    this.chooser = el("input", {
      type: "file",
      multiple: true,
      hidden: true,
      on: { change: () => this.attach(this.chooser.files) },
    });
    const clip = iconButton(
      "file",
      "Attach a file (only its name is kept here)",
      () => this.chooser.click(),
      { id: `${id}-attach` },
    );
    this.node = el(
      "div",
      { class: "composer" },
      this.list,
      this.error,
      this.attached,
      el("div", { class: "composer-box" }, extra, clip, this.chooser, this.text, this.button),
      below,
    );
    this.text.addEventListener("input", () => this.typed());
    this.text.addEventListener("keydown", (event) => this.press(event));
    this.text.addEventListener("blur", () => this.showSuggestions([]));
    this.text.addEventListener("focus", () => this.typed());
    this.list.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const item = event.target.closest("[role=option]");
      if (item) this.pick(Number(item.dataset.at));
    });
    this.typed();
  }

  attach(chosen) {
    this.files = [...this.files, ...[...chosen].map((file) => file.name)];
    this.chooser.value = "";
    this.showFiles();
    this.text.focus();
  }

  showFiles() {
    const without = (name) => () => {
      this.files = this.files.filter((one) => one !== name);
      this.showFiles();
    };
    fill(
      this.attached,
      this.files.map((name) =>
        el(
          "span",
          { class: "file" },
          icon("file"),
          name,
          iconButton("close", `Remove ${name}`, without(name)),
        ),
      ),
    );
    this.typed();
  }

  typed() {
    this.button.disabled = !this.text.value.trim() && !this.files.length;
    this.text.style.height = "";
    if (this.text.isConnected && this.text.value)
      this.text.style.height = `${Math.min(this.text.scrollHeight, 220)}px`;
    if (document.activeElement !== this.text) return;
    fill(this.error);
    const { options, preselect } = suggest(
      this.text.value.slice(0, this.text.selectionStart),
      this.commands(),
    );
    this.showSuggestions(options, preselect);
  }

  showSuggestions(options, preselect = false) {
    this.options = options;
    this.list.hidden = !options.length;
    fill(
      this.list,
      options.map((option, index) =>
        el(
          "li",
          {
            role: "option",
            id: `${this.listId}-${index}`,
            class: "option suggestion",
            "aria-selected": "false",
            dataset: { at: index },
          },
          option.mark && el("span", { class: "suggestion-mark" }, option.mark),
          el("span", { class: "suggestion-name" }, option.label),
          option.hint && el("span", { class: "suggestion-hint" }, option.hint),
          option.detail && el("span", { class: "suggestion-detail" }, option.detail),
        ),
      ),
    );
    this.mark(preselect ? 0 : -1);
  }

  mark(index) {
    this.at = index;
    for (const item of this.list.children) {
      const active = Number(item.dataset.at) === index;
      item.classList.toggle("option-active", active);
      item.setAttribute("aria-selected", String(active));
      if (active) item.scrollIntoView({ block: "nearest" });
    }
    if (index >= 0) this.text.setAttribute("aria-activedescendant", `${this.listId}-${index}`);
    else this.text.removeAttribute("aria-activedescendant");
  }

  pick(index) {
    const option = this.options[index];
    if (!option) return;
    const after = this.text.value.slice(this.text.selectionStart);
    this.set(option.insert + after, option.insert.length);
  }

  set(text, caret = text.length) {
    this.text.value = text;
    this.text.focus();
    this.text.setSelectionRange(caret, caret);
    this.typed();
  }

  press(event) {
    if (event.isComposing) return;
    if (this.pressInList(event) || this.pressHistory(event)) {
      event.preventDefault();
      event.stopPropagation();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.submit();
    }
  }

  pressInList(event) {
    if (this.list.hidden) return false;
    const count = this.options.length;
    if (event.key === "ArrowDown") this.mark((this.at + 1) % count);
    else if (event.key === "ArrowUp") this.mark(this.at <= 0 ? count - 1 : this.at - 1);
    else if (event.key === "Tab" && !event.shiftKey && this.text.value)
      this.pick(Math.max(this.at, 0));
    else if (event.key === "Enter" && !event.shiftKey && this.at >= 0) this.pick(this.at);
    else if (event.key === "Escape") this.showSuggestions([]);
    else return false;
    return true;
  }

  /** Up in an empty box, or in a recalled command, goes back through the commands typed before. */
  pressHistory(event) {
    const history = recall("history", []);
    const recalled = this.back > 0 && history.at(-this.back) === this.text.value;
    if (event.key === "ArrowUp" && (!this.text.value || recalled) && this.back < history.length)
      this.back += 1;
    else if (event.key === "ArrowDown" && recalled) this.back -= 1;
    else return false;
    this.set(this.back ? history.at(-this.back) : "");
    this.showSuggestions([]);
    return true;
  }

  async submit() {
    const text = this.text.value.trim();
    const files = this.files;
    if ((!text && !files.length) || this.busy) return;
    this.busy = true;
    this.node.classList.add("composer-busy");
    const before = this.text.value;
    this.set("");
    this.showSuggestions([]);
    const problem = await this.send(text, files);
    this.busy = false;
    this.node.classList.remove("composer-busy");
    this.back = 0;
    if (!problem) {
      this.files = [];
      this.showFiles();
    }
    if (problem) {
      if (!this.text.value) this.text.value = before;
      this.typed();
      if (problem !== KEEP_TEXT) fill(this.error, problem);
    } else if (text.startsWith("/")) {
      remember(
        "history",
        [...recall("history", []).filter((one) => one !== text), text].slice(-HISTORY),
      );
    }
  }
}
