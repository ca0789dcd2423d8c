"use strict";
// Elements, numbers as people read them, and axes.

const XMLNS = "http://www.w3.org/2000/svg";

function create(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  return fill(node, attributes, children);
}

function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS(XMLNS, name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// ---- Numbers -----------------------------------------------------------------------------------

/** Three significant digits, four of shares, thousands separated: 0.9932, 34.6, 11,236. */
function number(value) {
  if (value === null || value === undefined || !isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 99.95) return Math.round(value).toLocaleString("en-US");
  if (size !== 0 && size < 0.0001) return value.toExponential(1);
  return String(Number(value.toPrecision(size < 1 ? 4 : 3)));
}

/** A count: 600k, 12.5M, 1B. */
function count(value) {
  const units = ["", "k", "M", "B", "T"];
  let unit = 0;
  let rest = Math.abs(value);
  while (rest >= 999.5 && unit + 1 < units.length) {
    rest /= 1000;
    unit += 1;
  }
  return (value < 0 ? "-" : "") + Number(rest.toPrecision(4)) + units[unit];
}

// ---- Axes --------------------------------------------------------------------------------------

/** 1, 2 or 5 times a power of ten, so that about `intervals` of them make `range`. */
function step(range, intervals) {
  const least = range / intervals;
  const unit = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((m) => m * unit).find((s) => s >= least * (1 - 1e-9));
}

function linear(low, high, from, to, intervals) {
  const by = step(high - low, intervals);
  const decimals = Math.max(0, -Math.floor(Math.log10(by) + 1e-9));
  const ticks = [];
  // Plus 0, so that no tick is called -0.
  for (let n = Math.ceil(low / by - 1e-9) + 0; n * by <= high + by * 1e-9; n += 1) {
    ticks.push({ value: n * by, labelled: true, decimals });
  }
  const at = (value) => from + ((value - low) / (high - low)) * (to - from);
  const of = (place) => low + ((place - from) / (to - from)) * (high - low);
  return { low, high, at, of, ticks };
}

function logarithmic(least, most, from, to) {
  const ends = [1, 2, 5, 10];
  const decade = (value) => 10 ** Math.floor(Math.log10(value) + 1e-9);
  const low = ends.map((m) => m * decade(least)).findLast((v) => v <= least * (1 + 1e-9));
  const high = ends.map((m) => m * decade(most)).find((v) => v >= most * (1 - 1e-9));
  const top = high > low ? high : low * 10;
  const ticks = [];
  const few = top / low < 2000;
  for (let unit = decade(low); unit <= top; unit *= 10) {
    for (let digit = 1; digit < 10; digit += 1) {
      const value = digit * unit;
      if (value < low * (1 - 1e-9) || value > top * (1 + 1e-9)) continue;
      ticks.push({ value, labelled: digit === 1 || (few && (digit === 2 || digit === 5)) });
    }
  }
  const span = Math.log(top / low);
  const at = (value) => from + (Math.log(value / low) / span) * (to - from);
  const of = (place) => low * Math.exp(((place - from) / (to - from)) * span);
  return { low, high: top, at, of, ticks };
}
