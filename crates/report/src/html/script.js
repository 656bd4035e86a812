// Sorting, hiding and pointing out. Everything is on the page without this.
"use strict";
const units = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9, B: 1, KiB: 1024, MiB: 1048576, GiB: 1073741824, TiB: 1024 ** 4, PiB: 1024 ** 5, k: 1e3, K: 1024, M: 1e6, G: 1e9, T: 1e12 };
const byText = new Intl.Collator(undefined, { numeric: true }).compare;
const valueOf = (cell) => {
  const text = (cell?.textContent ?? "").trim();
  // Names and dates have digits, too: of a name only all of it is a number.
  const isName = cell?.matches(".id,th");
  const form = isName ? /^-?\d+(\.\d+)?(e[+-]?\d+)?$/ : /^-?\d+(\.\d+)?x?( |$)/;
  const isNumber = cell?.classList.contains("n") || form.test(text);
  const found = isNumber && /^[^\d-]*(-?\d[\d,]*\.?\d*(?:e[+-]?\d+)?)x?\s*([a-zA-Zµ]*)/.exec(text);
  if (!found) return { number: !isName && /^(baseline|not resolved)/.test(text) ? 1 : NaN, text };
  const number = Number(found[1].replaceAll(",", "")) * (units[found[2]] ?? 1);
  return { number: text.includes("faster") ? 1 / number : number, text };
};
const sort = (table, column, descending) => {
  const compare = (a, b) => {
    const [x, y] = [a, b].map((row) => valueOf(row.cells[column]));
    // Without a number: behind all that have one. Without two different ones: by text, which has no signs.
    const order = x.number - y.number || (x.number < 0 ? byText(y.text, x.text) : byText(x.text, y.text));
    return isNaN(x.number) - isNaN(y.number) || (descending ? -order : order);
  };
  for (const body of table.tBodies) body.append(...[...body.rows].sort(compare));
};
for (const table of document.querySelectorAll("table.sort")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (!head.textContent.trim()) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sort(table, column, descending);
    });
  });
}
const seriesOf = (place, number) => place.querySelectorAll(`.s[data-s="${number}"]`);
for (const key of document.querySelectorAll(".keys [data-key]")) {
  const place = key.closest("figure,section,main");
  const button = document.createElement("button");
  button.type = "button";
  button.title = "hide or show";
  button.setAttribute("aria-pressed", "true");
  button.append(...key.childNodes);
  key.append(button);
  button.addEventListener("click", () => {
    const shown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(shown));
    for (const mark of seriesOf(place, key.dataset.key)) mark.classList.toggle("off", !shown);
  });
}
for (const mark of document.querySelectorAll("[data-s],[data-key]")) {
  const place = mark.closest("section,main");
  const number = mark.dataset.s ?? mark.dataset.key;
  const point = (on) => {
    place.classList.toggle("hot", on);
    for (const one of seriesOf(place, number)) one.classList.toggle("on", on);
  };
  mark.addEventListener("pointerenter", () => point(true));
  mark.addEventListener("pointerleave", () => point(false));
}
// Paper cannot unfold.
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details.print:not([open])")];
  for (const one of folded) one.open = true;
});
addEventListener("afterprint", () => {
  for (const one of folded) one.open = false;
});
