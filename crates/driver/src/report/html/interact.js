"use strict";
// What a chart answers to pointer and keyboard, and in which forms its values leave the page.

Object.assign(Chart.prototype, {
  listen(svg) {
    const place = (event) => {
      const box = svg.getBoundingClientRect();
      return ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    };
    const rows = (at) => Math.min(this.x.high, Math.max(this.x.low, this.x.of(at)));
    let start = null;
    svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      start = place(event);
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (event) => {
      const at = place(event);
      this.group.point(rows(at));
      this.showTip(event, svg);
      if (start === null) return;
      const [from, to] = [start, at].sort((a, b) => a - b).map((p) => this.x.at(rows(p)));
      this.choice.setAttribute("x", from);
      this.choice.setAttribute("width", Math.max(0, to - from));
    });
    const end = (event) => {
      if (start === null) return;
      const [from, to] = [start, place(event)].sort((a, b) => a - b);
      start = null;
      this.choice.setAttribute("width", 0);
      if (event.type === "pointerup" && 8 < to - from) this.group.show([rows(from), rows(to)]);
    };
    svg.addEventListener("pointerup", end);
    svg.addEventListener("pointercancel", end);
    svg.addEventListener("pointerleave", () => {
      if (start !== null) return;
      this.group.point(null);
      this.tip.hidden = true;
    });
    svg.addEventListener("dblclick", () => this.group.show(null));
    svg.addEventListener("keydown", (event) => this.key(event));
  },

  key(event) {
    const { group } = this;
    const [low, high] = group.zoom ?? group.whole;
    const cursor = group.cursor ?? (low + high) / 2;
    const zoomed = (factor) => [low, high].map((end) => cursor + (end - cursor) * factor);
    const actions = {
      ArrowLeft: () => group.point(this.neighbour(-1)),
      ArrowRight: () => group.point(this.neighbour(1)),
      "+": () => group.show(zoomed(0.5)),
      "-": () => {
        const whole = group.whole;
        const [from, to] = zoomed(2);
        const isWhole = from <= whole[0] && whole[1] <= to;
        group.show(isWhole ? null : [Math.max(whole[0], from), Math.min(whole[1], to)]);
      },
      0: () => group.show(null),
      Escape: () => {
        group.point(null);
        group.show(null);
      },
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const focused = document.activeElement === this.svg;
    action();
    // A zoom draws anew.
    if (focused) this.svg.focus();
    const values = this.shown.map((curve) => `${curve.label} ${curve.value.textContent}`);
    document.getElementById("said").textContent = [this.at.textContent, ...values].join(", ");
  },

  /** The x value of the point before or after the cursor. */
  neighbour(by) {
    const xs = (this.shown[0] ?? this.curves[0])?.xs ?? [];
    const here = this.group.cursor === null ? (by > 0 ? -1 : xs.length) : nearest(xs, this.group.cursor);
    return xs[Math.min(xs.length - 1, Math.max(0, here + by))] ?? null;
  },

  /** Shows the values at the cursor; without one, those of the end. */
  showCursor() {
    if (!this.svg) return;
    const { cursor } = this.group;
    const end = this.group.zoom?.[1] ?? Infinity;
    this.cursor.replaceChildren();
    let rows = null;
    for (const curve of this.curves) {
      const i = nearest(curve.xs, cursor ?? end);
      // A curve that ended before the cursor has no value there.
      const ended = i === -1 || (cursor ?? 0) > curve.xs[i] + (curve.xs[i] - (curve.xs[i - 1] ?? 0));
      const value = ended || curve.hidden ? null : curve.y[i];
      curve.value.textContent = curve.hidden ? "" : number(value);
      if (ended || curve.hidden) continue;
      rows ??= curve.xs[i];
      if (cursor === null || value === null || (this.log && value <= 0)) continue;
      if (this.spec.form === "bars" || this.isStack) continue;
      const [cx, cy] = [this.x.at(curve.xs[i]), this.y.at(value)];
      this.cursor.append(draw("circle", { class: `point ${this.colour(curve)}`, cx, cy, r: 4 }));
    }
    const at = this.isFigure ? cursor : rows;
    this.at.textContent = cursor === null ? (this.group.zoom ? "at the right edge" : "at the end")
      : `at ${count(at ?? cursor)} rows`;
    if (cursor === null || cursor < this.x.low || this.x.high < cursor) return;
    const x = this.x.at(cursor);
    this.cursor.prepend(draw("line", { class: "cursor-line", x1: x, x2: x, y1: this.box.top, y2: this.box.bottom }));
  },

  /** The label of the published point under the pointer. */
  showTip(event, svg) {
    const box = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / box.width;
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    const found = this.marks.find((mark) => Math.hypot(mark.x - x, mark.y - y) < 14);
    this.tip.hidden = !found;
    if (!found) return;
    const { mark } = found;
    this.tip.textContent = `${mark.label} (${number(mark.y)} ${this.spec.y_label} at ${count(mark.x)} rows)`;
    const half = this.tip.offsetWidth / 2;
    this.tip.style.left = `${Math.min(box.width - half, Math.max(half, found.x / scale))}px`;
    this.tip.style.top = `${found.y / scale - 12}px`;
  },

  /** Rows of x and a value per curve; empty where a curve has no point. */
  table() {
    const lines = new Map();
    this.curves.forEach((curve, place) => curve.xs.forEach((x, i) => {
      if (!lines.has(x)) lines.set(x, new Array(this.curves.length).fill(null));
      lines.get(x)[place] = curve.y[i];
    }));
    const body = [...lines].sort((a, b) => a[0] - b[0]).map(([x, values]) => [x, ...values]);
    const unit = this.spec.y_label;
    return { head: ["rows", ...this.curves.map((curve) => `${curve.label} (${unit})`)], body };
  },

  csv() {
    const { head, body } = this.table();
    const cell = (value) => {
      const text = value === null ? "" : String(value);
      return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const marks = this.spec.marks.map((mark) =>
      [mark.x, ...this.curves.map(() => null), mark.y, mark.label]);
    const names = marks.length > 0 ? [...head, `published (${this.spec.y_label})`, "label"] : head;
    return [names, ...body, ...marks].map((line) => `${line.map(cell).join(",")}\n`).join("");
  },

  toggleTable(button) {
    const old = this.place.querySelector(".values-table");
    button.setAttribute("aria-expanded", String(!old));
    if (old) {
      old.remove();
      return;
    }
    const { head, body } = this.table();
    const top = create("tr", {}, ...head.map((name) => create("th", { scope: "col" }, name)));
    const lines = body.map(([x, ...values]) => create("tr", {},
      create("th", { scope: "row" }, x.toLocaleString("en-US")),
      ...values.map((value) => create("td", {}, value === null ? "" : number(value)))));
    const table = create("table", {}, create("thead", {}, top), create("tbody", {}, ...lines));
    this.place.append(create("div", { class: "values-table", tabindex: "0" }, table));
  },

  /** The drawing with title and legend, and with the colours that it has now. */
  svgFile() {
    const width = 960;
    const heading = { height: 44 + 20 * Math.ceil(this.shown.length / 3) };
    const svg = this.drawing(width, this.isFigure ? 400 : 240, heading);
    svg.prepend(draw("rect", { class: "paper", width, height: "100%" }));
    svg.append(draw("text", { class: "title", x: 16, y: 28 }, this.spec.title));
    this.shown.forEach((curve, place) => {
      const [x, y] = [16 + (place % 3) * 310, 54 + 20 * Math.floor(place / 3)];
      const sign = this.sample(curve).firstChild;
      sign.setAttribute("transform", `translate(${x} ${y - 10})`);
      svg.append(sign, draw("text", { class: "ink", x: x + 32, y }, curve.label));
    });
    // Another program does not know the page's style sheet.
    this.plot.append(svg);
    const properties = ["fill", "stroke", "stroke-width", "stroke-linejoin", "paint-order", "font-size", "font-weight", "font-family"];
    for (const node of svg.querySelectorAll("rect, line, path, text, circle")) {
      const style = getComputedStyle(node);
      for (const property of properties) node.style.setProperty(property, style.getPropertyValue(property));
    }
    svg.remove();
    return new XMLSerializer().serializeToString(svg);
  },
});

/** The number of the value nearest to `x` in a sorted list; -1 if it is empty. */
function nearest(xs, x) {
  let [low, high] = [0, xs.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (xs[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low > 0 && x - xs[low - 1] < xs[low] - x ? low - 1 : Math.min(low, xs.length - 1);
}

function download(name, type, text) {
  const link = create("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
