"use strict";
// The page: its theme, its table of claims, and charts that are drawn when they come into sight.

const root = document.documentElement;
document.getElementById("theme").addEventListener("click", () => {
  const scheme = root.style.colorScheme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  root.style.colorScheme = scheme === "dark" ? "light" : "dark";
});

// ---- Charts ------------------------------------------------------------------------------------

/** Draws the charts below `part` that are not in a closed section. */
function drawCharts(part) {
  const waiting = part.querySelectorAll("[data-chart]:not([data-drawn])");
  const open = [...waiting].filter((place) => !place.closest("details:not([open])"));
  for (const place of open) place.dataset.drawn = "";
  for (const place of open) new Chart(DATA.charts[Number(place.dataset.chart)], place);
}

drawCharts(document);
for (const section of document.querySelectorAll("details.run")) {
  section.addEventListener("toggle", () => drawCharts(section));
}

/** Opens the section that a link leads to. */
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const section = target?.closest("details");
  if (!section || section.open) return;
  section.open = true;
  target.scrollIntoView();
}

addEventListener("hashchange", openTarget);
openTarget();

// ---- Scorecard ---------------------------------------------------------------------------------

const score = document.getElementById("score");
if (score) {
  const body = score.tBodies[0];
  const lines = [...body.rows];
  const filters = document.getElementById("filters");

  const filter = () => {
    const chosen = new FormData(filters);
    const verdicts = new Set(chosen.getAll("verdict"));
    const words = chosen.get("words").toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const line of lines) {
      const text = line.textContent.toLowerCase();
      const fits = verdicts.has(line.dataset.verdict)
        && (!chosen.get("article") || chosen.get("article") === line.dataset.article)
        && words.every((word) => text.includes(word));
      line.hidden = !fits;
      shown += fits;
    }
    document.getElementById("matches").textContent = `${shown} of ${lines.length} claims`;
  };
  filters.addEventListener("input", filter);
  filters.addEventListener("submit", (event) => event.preventDefault());
  filter();

  for (const button of score.querySelectorAll("[data-sort]")) {
    button.addEventListener("click", () => {
      const heading = button.closest("th");
      const up = heading.getAttribute("aria-sort") !== "ascending";
      for (const other of score.querySelectorAll("th")) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = button.dataset.sort === "verdict" ? "rank" : button.dataset.sort;
      const value = (line) => (line.dataset[key] === undefined ? null : Number(line.dataset[key]));
      // What has no value stays at the end.
      lines.sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        if (x === null || y === null) return (x === null) - (y === null);
        return up ? x - y : y - x;
      });
      body.append(...lines);
    });
  }
}
