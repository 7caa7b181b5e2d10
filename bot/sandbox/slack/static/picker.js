// A select that is typed into: a combobox with a list, for one choice or several.

import { add, el, fill, icon, uniqueId } from "./dom.js";
import { place, showPopup } from "./popup.js";

/** An option here: { key, label (string), node? (what is shown), detail?, group? }. */
export class Picker {
  /**
   * `find(typed)` gives options, at once or by a promise; `chosen` is the list of chosen options
   * at the start.
   */
  constructor({
    find,
    chosen = [],
    multiple = false,
    most = Infinity,
    placeholder = "",
    names = {},
    label,
    focusKey,
    onChange,
  }) {
    Object.assign(this, { find, chosen, multiple, most, placeholder, onChange });
    this.listId = uniqueId("options");
    this.input = el("input", {
      type: "text",
      role: "combobox",
      class: "picker-input",
      autocomplete: "off",
      spellcheck: "false",
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": this.listId,
      "aria-labelledby": names.label,
      "aria-label": names.label ? null : label,
      "aria-describedby": [names.hint, names.error].filter(Boolean).join(" ") || null,
      placeholder,
      dataset: { focus: focusKey },
    });
    this.chips = el("span", { class: "picker-chips" });
    this.node = el(
      "div",
      { class: multiple ? "picker picker-multiple" : "picker" },
      this.chips,
      this.input,
      icon("down"),
    );
    this.list = el("ul", {
      class: "popup options",
      role: "listbox",
      id: this.listId,
      "aria-multiselectable": multiple ? "true" : null,
    });
    this.at = -1;
    this.listen();
    this.showChosen();
  }

  listen() {
    this.input.addEventListener("input", () => this.open(this.input.value));
    this.input.addEventListener("click", () => {
      if (!this.list.isConnected) this.openAll();
    });
    this.input.addEventListener("focus", () => this.input.select());
    this.input.addEventListener("blur", () => this.close());
    this.input.addEventListener("keydown", (event) => this.press(event));
    this.node.addEventListener("pointerdown", (event) => {
      if (event.target === this.input || event.target.closest(".chip-remove")) return;
      event.preventDefault();
      this.input.focus();
      this.openAll();
    });
    this.list.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const item = event.target.closest("[role=option]");
      if (item) this.choose(this.options[Number(item.dataset.at)]);
    });
  }

  /** Shows every option; what is typed next takes the place of the choice shown. */
  openAll() {
    this.input.placeholder = this.input.value || this.placeholder;
    this.input.value = "";
    return this.open("");
  }

  async open(typed) {
    this.turn = (this.turn ?? 0) + 1;
    const { turn } = this;
    const found = this.find(typed);
    if (found instanceof Promise) this.showNote("Loading…");
    let options;
    try {
      options = await found;
    } catch (error) {
      if (turn === this.turn) this.showNote(error.message);
      return;
    }
    if (turn !== this.turn || document.activeElement !== this.input) return;
    this.options = options;
    this.draw();
  }

  draw() {
    if (!this.options.length) {
      this.showNote("No results");
      return;
    }
    fill(this.list);
    let group = null;
    this.options.forEach((option, index) => {
      if (option.group && option.group !== group)
        add(this.list, el("li", { class: "menu-caption", role: "presentation" }, option.group));
      group = option.group;
      add(this.list, this.item(option, index));
    });
    const current = this.options.findIndex((option) => this.isChosen(option));
    this.show();
    this.mark(current >= 0 && !this.multiple ? current : 0);
  }

  item(option, index) {
    const chosen = this.isChosen(option);
    return el(
      "li",
      {
        role: "option",
        id: `${this.listId}-${index}`,
        class: "option",
        "aria-selected": String(chosen),
        dataset: { at: index },
      },
      el(
        "span",
        { class: "menu-words" },
        el("span", { class: "menu-label" }, option.node?.() ?? option.label),
        option.detail && el("span", { class: "menu-detail" }, option.detail),
      ),
      chosen && icon("check"),
    );
  }

  showNote(words) {
    this.options = [];
    fill(this.list, el("li", { class: "menu-caption", role: "presentation" }, words));
    this.at = -1;
    this.show();
  }

  show() {
    if (this.list.isConnected) place(this.list, this.node, { matchWidth: true });
    else showPopup(this.list, this.node, { matchWidth: true });
    this.input.setAttribute("aria-expanded", "true");
  }

  close() {
    this.turn = (this.turn ?? 0) + 1;
    this.list.remove();
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
    this.showChosen();
  }

  mark(index) {
    this.at = index;
    for (const item of this.list.querySelectorAll("[role=option]"))
      item.classList.toggle("option-active", Number(item.dataset.at) === index);
    const active = this.list.querySelector(".option-active");
    if (active) this.input.setAttribute("aria-activedescendant", active.id);
    active?.scrollIntoView({ block: "nearest" });
  }

  press(event) {
    const open = this.list.isConnected;
    const count = this.options?.length ?? 0;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (!open) this.openAll();
      else if (count) this.mark((this.at + (event.key === "ArrowDown" ? 1 : -1) + count) % count);
    } else if (event.key === "Enter" && open && count) {
      this.choose(this.options[this.at]);
    } else if (event.key === "Escape" && open) {
      this.close();
    } else if (
      event.key === "Backspace" &&
      this.multiple &&
      !this.input.value &&
      this.chosen.length
    ) {
      this.set(this.chosen.slice(0, -1));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  isChosen(option) {
    return this.chosen.some((one) => one.key === option.key);
  }

  choose(option) {
    if (!option) return;
    if (!this.multiple) {
      const same = this.isChosen(option);
      this.chosen = [option];
      this.close();
      if (!same) this.onChange(this.chosen, this);
      return;
    }
    this.input.value = "";
    if (this.isChosen(option)) this.set(this.chosen.filter((one) => one.key !== option.key));
    else if (this.chosen.length < this.most) this.set([...this.chosen, option]);
    this.open("");
  }

  set(chosen) {
    this.chosen = chosen;
    this.showChosen();
    this.onChange(this.chosen, this);
  }

  showChosen() {
    this.input.placeholder = this.placeholder;
    if (!this.multiple) {
      this.input.value = this.chosen[0]?.label ?? "";
      return;
    }
    this.input.value = "";
    fill(
      this.chips,
      this.chosen.map((option) => this.chip(option)),
    );
  }

  chip(option) {
    const remove = () => this.set(this.chosen.filter((one) => one.key !== option.key));
    return el(
      "span",
      { class: "chip" },
      option.label,
      el(
        "button",
        {
          type: "button",
          class: "chip-remove",
          "aria-label": `Remove ${option.label}`,
          on: { click: remove },
        },
        icon("close"),
      ),
    );
  }
}

/** Finds in a fixed list: every word typed must occur in the label or the detail. */
export const finder = (options) => (typed) => {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return options.filter((option) =>
    words.every((word) => `${option.label} ${option.detail ?? ""}`.toLowerCase().includes(word)),
  );
};
