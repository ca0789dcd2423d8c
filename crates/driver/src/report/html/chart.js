"use strict";
// Charts as SVG. A chart is drawn whole when its range or its curves change; a cursor moves in
// front of it. The same drawing is shown, printed and downloaded.

const DATA = JSON.parse(document.getElementById("data").textContent);
const LINES = 6; // colours of lines, --l0 to --l5
const AREAS = 10; // colours of areas, --k0 to --k9
const DASHES = ["", "9 4", "2 3", "12 3 2 3", "5 2", "16 4"]; // so that print tells lines apart

/** Charts over one x axis: they share cursor and zoom. */
class Group {
  constructor() {
    this.charts = [];
    this.zoom = null;
    this.cursor = null;
  }

  point(x) {
    this.cursor = x;
    for (const chart of this.charts) chart.showCursor();
  }

  show(zoom) {
    this.zoom = zoom;
    if (zoom && this.cursor !== null && (this.cursor < zoom[0] || zoom[1] < this.cursor)) this.cursor = null;
    for (const chart of this.charts) chart.redraw();
  }

  /** The whole range of x, to the next number of three digits. */
  get whole() {
    const end = Math.max(1, ...this.charts.flatMap((chart) => chart.xs()));
    const unit = 10 ** (Math.floor(Math.log10(end)) - 2);
    return [0, Math.ceil(end / unit - 1e-9) * unit];
  }
}

const groups = new Map();

class Chart {
  constructor(spec, place) {
    this.spec = spec;
    this.place = place;
    this.isFigure = place.classList.contains("figure");
    this.log = spec.log;
    this.curves = spec.curves.map((curve, index) => ({ ...curve, index, xs: DATA.x[curve.x] }));
    this.isStack = spec.form === "stack";
    if (!groups.has(spec.group)) groups.set(spec.group, new Group());
    this.group = groups.get(spec.group);
    this.group.charts.push(this);
    this.build();
  }

  xs() {
    const last = (curve) => curve.xs[curve.xs.length - 1] ?? 0;
    return [...this.curves.map(last), ...this.spec.marks.map((mark) => mark.x)];
  }

  get shown() {
    return this.curves.filter((curve) => !curve.hidden);
  }

  colour(curve) {
    return this.isStack ? `k${curve.colour % AREAS}` : `l${curve.colour % LINES}`;
  }

  dash(curve) {
    return this.isStack ? "" : DASHES[curve.colour % DASHES.length];
  }

  build() {
    this.legend = create("div", { class: "legend" }, (this.at = create("span", { class: "at" })));
    for (const curve of this.curves) {
      curve.value = create("b");
      const button = create("button", { type: "button", "aria-pressed": "true" },
        this.sample(curve), `${curve.label} `, curve.value);
      button.title = "Show or hide; with Shift: this one alone";
      button.addEventListener("click", (event) => this.toggle(curve, event.shiftKey));
      curve.button = button;
      this.legend.append(button);
    }
    if (this.spec.marks.length > 0) {
      const sign = draw("svg", { class: "sample", viewBox: "0 0 24 12" }, diamond(12, 6));
      this.legend.append(create("span", { class: "mark-key" }, sign, "published"));
    }
    this.plot = create("div", { class: "plot" });
    this.tools = create("div", { class: "tools" });
    const tool = (name, title, action) => {
      const button = create("button", { type: "button", title }, name);
      button.addEventListener("click", () => action(button));
      this.tools.append(button);
      return button;
    };
    if (this.spec.form === "lines") {
      const name = () => (this.log ? "linear" : "log");
      tool(name(), "Logarithmic or linear axis", (button) => {
        this.log = !this.log;
        button.textContent = name();
        this.redraw();
      });
    }
    tool("table", "The values as a table", (button) => this.toggleTable(button))
      .setAttribute("aria-expanded", "false");
    tool("CSV", "Download the values of this chart", () =>
      download(this.fileName("csv"), "text/csv", this.csv()));
    tool("SVG", "Download this chart", () =>
      download(this.fileName("svg"), "image/svg+xml", this.svgFile()));
    this.tip = create("div", { class: "tip", hidden: "" });
    this.plot.append(this.tip);
    this.place.querySelector("figcaption").append(this.tools);
    this.place.append(this.legend, this.plot);
    this.redraw();
    new ResizeObserver(() => {
      requestAnimationFrame(() => {
        if (Math.round(this.plot.clientWidth) !== this.width) this.redraw();
      });
    }).observe(this.plot);
  }

  sample(curve) {
    const sign = this.isStack
      ? draw("rect", { class: `area ${this.colour(curve)}`, x: 5, y: 0, width: 14, height: 12 })
      : draw("line", { class: `line ${this.colour(curve)}`, x1: 0, x2: 24, y1: 6, y2: 6,
        "stroke-dasharray": this.dash(curve) });
    return draw("svg", { class: "sample", viewBox: "0 0 24 12", "aria-hidden": "true" }, sign);
  }

  toggle(curve, alone) {
    if (alone) {
      const isAlone = !curve.hidden && this.shown.length === 1;
      for (const other of this.curves) other.hidden = !isAlone && other !== curve;
    } else {
      curve.hidden = !curve.hidden;
    }
    for (const c of this.curves) c.button.setAttribute("aria-pressed", String(!c.hidden));
    this.redraw();
  }

  /** Draws for the width there is. */
  redraw() {
    const width = Math.round(this.plot.clientWidth);
    if (width < 50) return;
    this.width = width;
    const svg = this.drawing(width, this.isFigure ? Math.min(400, 200 + width / 5) : 176);
    this.plot.querySelector("svg")?.remove();
    this.plot.prepend(svg);
    this.listen(svg);
    this.showCursor();
  }

  /** The whole drawing; with a heading if it is to stand alone. */
  drawing(width, height, heading = null) {
    const [x0, x1] = this.group.zoom ?? this.group.whole;
    const top = 24 + (heading?.height ?? 0);
    const box = { left: 64, right: width - 16, top, bottom: top + height - 62 };
    const total = box.bottom + 38;
    const x = linear(x0, x1, box.left, box.right, Math.max(2, Math.floor(width / 110)));
    const y = this.yAxis(x0, x1, box);
    const svg = draw("svg", { class: "drawing", width, height: total, xmlns: XMLNS,
      viewBox: `0 0 ${width} ${total}`, role: "img", tabindex: "0", "aria-label": this.summary() });
    const clip = `clip-${DATA.charts.indexOf(this.spec)}${heading ? "-file" : ""}`;
    svg.append(draw("clipPath", { id: clip }, draw("rect", { x: box.left - 1, y: box.top - 3,
      width: box.right - box.left + 2, height: box.bottom - box.top + 4 })));
    svg.append(this.frame(x, y, box));
    const curves = draw("g", { "clip-path": `url(#${clip})` });
    svg.append(curves);
    const layers = this.isStack ? this.layers() : [];
    if (this.isStack) this.drawStack(curves, layers, x, y, box);
    else if (this.spec.form === "bars") this.drawBars(curves, x, y, box);
    else for (const curve of this.shown) curves.append(this.line(curve, x, y));
    const marks = this.drawMarks(svg, x, y, box);
    if (heading) return svg;
    const cursor = draw("g", { class: "cursor" });
    const choice = draw("rect", { class: "choice", y: box.top, height: box.bottom - box.top, width: 0 });
    svg.append(cursor, choice);
    Object.assign(this, { x, y, box, svg, cursor, choice, marks });
    return svg;
  }

  /** The axis for what is seen between two x values. */
  yAxis(x0, x1, box) {
    const values = [];
    const see = (curve, y) => curve.xs.forEach((x, i) => {
      const near = x0 <= (curve.xs[i + 1] ?? x) && (curve.xs[i - 1] ?? x) <= x1;
      if (near && y[i] !== null) values.push(y[i]);
    });
    if (this.isStack) for (const layer of this.layers()) see(layer.curve, layer.top);
    else for (const curve of this.shown) see(curve, curve.y);
    for (const mark of this.spec.marks) if (x0 <= mark.x && mark.x <= x1) values.push(mark.y);
    const most = values.reduce((a, b) => Math.max(a, b), 0);
    const intervals = this.isFigure ? 6 : 3;
    if (this.log) {
      const least = values.reduce((a, b) => (b > 0 ? Math.min(a, b) : a), Infinity);
      if (isFinite(least)) return logarithmic(least, most, box.bottom, box.top);
    }
    let low = 0;
    let high = most || 1;
    if (this.spec.form === "floating" && values.length > 0) {
      low = values.reduce((a, b) => Math.min(a, b), Infinity);
      if (low === high) low = high - (Math.abs(high) || 1) * 0.1;
    }
    const by = step(high - low, intervals);
    low = Math.floor(low / by + 1e-9) * by;
    high = Math.ceil(high / by - 1e-9) * by;
    return linear(low, high, box.bottom, box.top, intervals);
  }

  frame(x, y, box) {
    const frame = draw("g", { class: "frame" });
    const line = (kind, x1, y1, x2, y2) => frame.append(draw("line", { class: kind, x1, y1, x2, y2 }));
    for (const tick of x.ticks) {
      const at = x.at(tick.value);
      line("grid", at, box.top, at, box.bottom);
      frame.append(draw("text", { class: "soft", x: at, y: box.bottom + 16, "text-anchor": "middle" },
        count(tick.value)));
    }
    for (const tick of y.ticks) {
      const at = y.at(tick.value);
      line(tick.labelled ? "grid" : "minor", box.left, at, box.right, at);
      if (!tick.labelled) continue;
      const label = tick.value >= 100000 ? count(tick.value) : tick.value.toLocaleString("en-US",
        { maximumFractionDigits: Math.min(20, tick.decimals ?? 12) });
      frame.append(draw("text", { class: "soft", x: box.left - 7, y: at + 4, "text-anchor": "end" }, label));
    }
    line("axis", box.left, box.bottom, box.right, box.bottom);
    const title = this.spec.y_label + (this.log ? ", logarithmic" : "");
    frame.append(
      draw("text", { class: "soft", x: 4, y: box.top - 11 }, title),
      draw("text", { class: "soft", x: box.right, y: box.bottom + 32, "text-anchor": "end" }, "rows inserted"),
    );
    return frame;
  }

  line(curve, x, y) {
    let path = "";
    let pen = "M";
    curve.y.forEach((value, i) => {
      if (value === null || (this.log && value <= 0)) {
        pen = "M";
        return;
      }
      path += `${pen}${x.at(curve.xs[i]).toFixed(1)} ${y.at(value).toFixed(1)}`;
      pen = "L";
    });
    return draw("path", { class: `line ${this.colour(curve)}`, d: path,
      "stroke-dasharray": this.dash(curve) });
  }

  /** The shown curves of a stack with the sums below and with them. */
  layers() {
    let below = null;
    return this.shown.map((curve) => {
      const bottom = below ?? curve.y.map(() => 0);
      const top = curve.y.map((value, i) => (value === null ? null : bottom[i] + value));
      below = top.map((value, i) => value ?? bottom[i]);
      return { curve, bottom, top };
    });
  }

  drawStack(into, layers, x, y, box) {
    for (const { curve, bottom, top } of layers) {
      const at = (values) => curve.xs
        .map((rows, i) => (top[i] === null ? null : `${x.at(rows).toFixed(1)} ${y.at(values[i]).toFixed(1)}`))
        .filter((place) => place !== null);
      const [over, under] = [at(top), at(bottom).reverse()];
      if (over.length === 0) continue;
      into.append(draw("path", { class: `area ${this.colour(curve)}`,
        d: `M${over.join("L")}L${under.join("L")}Z` }));
    }
    for (const layer of layers) this.nameLayer(into, layer, x, y, box);
  }

  /** Writes the name of an area where it is thickest, if there is room. */
  nameLayer(into, { curve, bottom, top }, x, y, box) {
    const half = 3.4 * curve.label.length + 6;
    let best = null;
    curve.xs.forEach((rows, i) => {
      const at = x.at(rows);
      if (top[i] === null || at < box.left + half || box.right - half < at) return;
      const [over, under] = [y.at(top[i]), y.at(bottom[i])];
      if (best === null || best.thick < under - over) best = { at, thick: under - over, y: (over + under) / 2 };
    });
    if (best && 16 <= best.thick) {
      into.append(draw("text", { class: "note", x: best.at, y: best.y + 4, "text-anchor": "middle" }, curve.label));
    }
  }

  drawBars(into, x, y, box) {
    for (const curve of this.shown) {
      const width = Math.max(1.5, ((box.right - box.left) / Math.max(1, curve.xs.length)) * 0.7);
      let path = "";
      curve.y.forEach((value, i) => {
        if (value) path += `M${x.at(curve.xs[i]).toFixed(1)} ${box.bottom}V${y.at(value).toFixed(1)}`;
      });
      into.append(draw("path", { class: `line ${this.colour(curve)}`, d: path, style: `stroke-width:${width.toFixed(1)}px` }));
    }
  }

  /** Published points, each with its label where there is room for it. */
  drawMarks(svg, x, y, box) {
    const places = this.spec.marks
      .map((mark) => ({ mark, x: x.at(mark.x), y: y.at(mark.y) }))
      .filter((at) => box.left - 1 <= at.x && at.x <= box.right + 1 && box.top - 1 <= at.y && at.y <= box.bottom + 1);
    const taken = places.map((at) => ({ l: at.x - 8, r: at.x + 8, t: at.y - 8, b: at.y + 8 }));
    const dots = this.shown.flatMap((curve) => curve.y
      .map((value, i) => ({ x: x.at(curve.xs[i]), y: value === null ? NaN : y.at(value) })));
    for (const at of places) svg.append(diamond(at.x, at.y));
    for (const at of places) {
      const width = 6.3 * at.mark.label.length;
      const choices = [-9, 19, -25, 35, -41, 51].flatMap((dy) => (at.x < (box.left + box.right) / 2
        ? [1, -1] : [-1, 1]).map((side) => {
        const l = side > 0 ? at.x + 11 : at.x - 11 - width;
        return { side, l, r: l + width, t: at.y + dy - 11, b: at.y + dy + 3, y: at.y + dy };
      })).filter((c) => box.left <= c.l && c.r <= box.right + 8 && box.top - 4 <= c.t && c.b <= box.bottom
        && !taken.some((o) => c.l < o.r && o.l < c.r && c.t < o.b && o.t < c.b));
      const clear = (c) => !dots.some((d) => c.l - 3 < d.x && d.x < c.r + 3 && c.t - 2 < d.y && d.y < c.b + 2);
      const choice = choices.find(clear) ?? (this.isFigure && width < 260 ? choices[0] : undefined);
      if (choice === undefined) continue;
      taken.push(choice);
      svg.append(draw("text", { class: "note", y: choice.y, x: choice.side > 0 ? choice.l : choice.r,
        "text-anchor": choice.side > 0 ? "start" : "end" }, at.mark.label));
    }
    return places;
  }

  /** What a reader who sees no chart is told. */
  summary() {
    const parts = this.shown.map((curve) => {
      const values = curve.y.filter((value) => value !== null);
      if (values.length === 0) return `${curve.label}: no values`;
      const ends = [values[0], values[values.length - 1]].map(number);
      const [least, most] = [Math.min(...values), Math.max(...values)].map(number);
      return `${curve.label}: from ${ends[0]} to ${ends[1]}, least ${least}, most ${most}`;
    });
    const marks = this.spec.marks.map((mark) => `published: ${mark.label}`);
    return `${this.spec.title}, ${this.spec.y_label} against rows inserted. ${[...parts, ...marks].join(". ")}`;
  }

  fileName(ending) {
    const text = `${this.spec.group} ${this.spec.title}`;
    return `${text.toLowerCase().replace(/[^a-z0-9.]+/g, "-").replace(/^-|-$/g, "").slice(0, 80)}.${ending}`;
  }
}

function diamond(x, y) {
  return draw("path", { class: "mark", d: `M${x} ${y - 6}L${x + 6} ${y}L${x} ${y + 6}L${x - 6} ${y}Z` });
}
