// Loads pages in headless Chromium and checks what only a browser knows:
//
//   node check.mjs CHROMIUM FOLDER OUTLINE [--bless] [--pictures FOLDER]
//
// * no error and no message on the console, nothing fetched;
// * no overflow at 360 and 1280 pixels, in both colour schemes and on paper;
// * axe-core finds nothing serious;
// * on paper every number is on one line;
// * every drawing has a size, marks within the page, and a name for screen readers;
// * no cell has pale ink on a colour or a sentence in a narrow column, and tasks of a heat table stay in sight;
// * names sort as texts, verdicts by their factors, numbers by all their digits;
// * keys alone sort a table, hide a contender and unfold what is folded;
// * all of it without scripts, compared with the outline that was blessed: headings, captions, heads
//   of tables, how many rows and marks.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const [program, folder, outlineFile, ...rest] = process.argv.slice(2);
const pictures = rest.includes("--pictures") ? rest[rest.indexOf("--pictures") + 1] : undefined;
const failures = [];
let checks = 0;
const check = (holds, words) => {
  checks += 1;
  if (!holds) failures.push(words);
};

/// What a page is made of, as lines. Runs in the page.
const outline = () => {
  const text = (node) => node.textContent.replace(/\s+/g, " ").trim();
  const lines = [];
  for (const node of document.querySelectorAll("h1,h2,h3,figcaption,table,svg[role=img],summary,pre")) {
    const name = node.tagName.toLowerCase();
    if (name === "table") {
      // Without a head of the whole, each part begins with its own.
      for (const body of node.tBodies) {
        const heads = [...(node.tHead ?? body).rows[0].cells].map(text);
        lines.push(`table ${heads.join(" | ")}: ${body.rows.length - (node.tHead ? 0 : 1)} rows`);
      }
    } else if (name === "svg") {
      const marks = (kind) => node.querySelectorAll(kind).length;
      lines.push(`drawing ${text(node.querySelector("title"))}: ${marks("line")} lines, ${marks("circle")} dots, ${marks("path")} paths, ${marks("rect")} areas`);
    } else {
      lines.push(`${name} ${text(node)}`);
    }
  }
  return lines;
};

/// Drawings without a size, a name or marks, or with marks beyond the page. Runs in the page.
const wrongDrawings = () => {
  const wrong = [];
  const width = document.documentElement.clientWidth;
  for (const svg of document.querySelectorAll("svg[role=img]")) {
    if (!svg.checkVisibility()) continue;
    const name = svg.querySelector("title")?.textContent ?? "";
    const box = svg.getBoundingClientRect();
    if (!name) wrong.push("a drawing without a title");
    if (box.width < 60 || box.height < 10) wrong.push(`${name}: ${box.width} by ${box.height} pixels`);
    for (const mark of svg.querySelectorAll("circle,path,rect,text")) {
      const { left, right } = mark.getBoundingClientRect();
      if (left < -1 || right > width + 1) wrong.push(`${name}: a mark from ${left} to ${right}`);
    }
  }
  return wrong;
};

/// Numbers that do not stand on one line. Runs in the page.
const brokenNumbers = () => {
  const content = document.createRange();
  const isBroken = (cell) => {
    content.selectNodeContents(cell);
    return new Set([...content.getClientRects()].map((box) => Math.round(box.top))).size > 1;
  };
  return [...document.querySelectorAll("tbody .n:not(.long)")].filter(isBroken).map((cell) => cell.textContent);
};

/// Cells that are hard to read on any screen. Runs in the page.
const wrongCells = () => {
  const wrong = [];
  const style = (node) => getComputedStyle(node);
  for (const mark of document.querySelectorAll(".h0")) {
    if (style(mark).color !== style(document.body).color) wrong.push(`in pale ink: ${mark.textContent}`);
  }
  for (const head of document.querySelectorAll(".heat th:first-child")) {
    if (style(head).position !== "sticky") wrong.push(`out of sight: ${head.textContent}`);
  }
  for (const cell of document.querySelectorAll("td")) {
    const { width } = cell.getBoundingClientRect();
    const isSentence = cell.textContent.split(" ").length > 6;
    if (isSentence && cell.checkVisibility() && width < 120) wrong.push(`${width} pixels wide: ${cell.textContent}`);
  }
  return wrong;
};

/// A column of each kind sorted by the page's own script. Runs in the page.
const sortedCells = () => {
  const columns = [
    ["baseline", "5 M street", "10 Downing", "1e3", "2.5"].map((name) => `<th class="id">${name}</th>`),
    ["crashed", "2.00x slower", "not resolved", "baseline", "1.25x faster"].map((word) => `<td>${word}</td>`),
    ["-12345678901234567890", "-12345678901234567891", "-3", "2"].map((number) => `<td class="n">${number}</td>`),
  ];
  const sorted = (cells) => {
    const table = document.createElement("table");
    table.innerHTML = `<tbody>${cells.map((cell) => `<tr>${cell}</tr>`).join("")}</tbody>`;
    sort(table, 0, false);
    return [...table.rows].map((row) => row.textContent).join();
  };
  return columns.map(sorted);
};
/// How they ought to be.
const SORTED = ["2.5,1e3,5 M street,10 Downing,baseline", "1.25x faster,baseline,not resolved,2.00x slower,crashed", "-12345678901234567891,-12345678901234567890,-3,2"];

const browser = await chromium.launch({
  executablePath: program,
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

const opened = async (file, options) => {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const name = `${basename(file)} ${options.viewport.width} ${options.colorScheme ?? ""}`;
  page.on("console", (message) => check(false, `${name}: console: ${message.text()}`));
  page.on("pageerror", (error) => check(false, `${name}: ${error.message}`));
  page.on("request", (request) => {
    const own = request.url().startsWith("file:") || request.url().startsWith("data:");
    check(own, `${name}: fetches ${request.url()}`);
  });
  await page.goto(pathToFileURL(file).href);
  return { page, name, close: () => context.close() };
};

const looks = async (file, width, colorScheme) => {
  const { page, name, close } = await opened(file, { viewport: { width, height: 800 }, colorScheme });
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  check(over <= 0, `${name}: ${over} pixels too wide`);
  for (const wrong of [wrongDrawings, wrongCells]) {
    for (const words of await page.evaluate(wrong)) check(false, `${name}: ${words}`);
  }
  if (pictures) {
    await page.screenshot({ path: join(pictures, `${basename(file, ".html")}-${width}-${colorScheme}.png`), fullPage: true });
  }
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  const serious = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
  for (const { id, nodes } of serious) check(false, `${name}: axe: ${id}: ${nodes[0].html.slice(0, 200)}`);
  check(true, name);
  await close();
};

/// Only keys: sort, hide, unfold; on paper results are unfolded and nothing is too wide.
const keys = async (file) => {
  const { page, name, close } = await opened(file, { viewport: { width: 1280, height: 800 } });
  const head = page.locator("table.sort thead button").first();
  if (await head.count()) {
    for (const [at, order] of (await page.evaluate(sortedCells)).entries()) check(order === SORTED[at], `${name}: sorted ${order}`);
    const column = async () => page.locator("table.sort").first().locator("tbody tr > :first-child").allTextContents();
    const before = await column();
    await head.focus();
    await page.keyboard.press("Enter");
    const up = await column();
    await page.keyboard.press("Enter");
    const down = await column();
    const sort = await page.locator("table.sort th[aria-sort]").first().getAttribute("aria-sort");
    check(sort === "descending", `${name}: the head says ${sort}`);
    check([...up].sort().join() === [...before].sort().join(), `${name}: sorting lost rows`);
    check(new Set(before).size < 2 || up.join() !== down.join(), `${name}: keys do not sort`);
    for (const [at, text] of (await page.locator("table.sort").first().locator("thead > tr > *").allTextContents()).entries()) {
      const cells = page.locator("table.sort").first().locator(`tbody tr > :nth-child(${at + 1})`);
      if (!(await cells.allTextContents()).some((cell) => /^\d{4}-\d\d-/.test(cell))) continue;
      for (const turn of [1, -1]) {
        await page.locator("table.sort").first().locator("thead button", { hasText: text }).click();
        const dates = await cells.allTextContents();
        check(dates.join() === [...dates].sort((a, b) => (a < b ? -turn : turn)).join(), `${name}: ${text} is not in order`);
      }
    }
  }
  const key = page.locator(".keys button:visible").first();
  if (await key.count()) {
    const hidden = () => page.evaluate(() => document.querySelectorAll(".off").length);
    await key.focus();
    await page.keyboard.press("Space");
    check((await hidden()) > 0, `${name}: keys hide nothing`);
    await page.keyboard.press("Space");
    check((await hidden()) === 0, `${name}: what was hidden stays so`);
  }
  const fold = page.locator("summary").first();
  if (await fold.count()) {
    await fold.focus();
    await page.keyboard.press("Enter");
    check((await page.locator("details[open]").count()) > 0, `${name}: keys unfold nothing`);
  }
  const folded = () => page.locator("details.print:not([open])").count();
  const before = await folded();
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize({ width: 794, height: 1123 });
  // What a browser sends when it prints, this does not.
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  check((await folded()) === 0, `${name}: folded on paper`);
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  check(over <= 0, `${name}: ${over} pixels too wide for paper`);
  for (const words of await page.evaluate(wrongDrawings)) check(false, `${name}: on paper: ${words}`);
  for (const number of await page.evaluate(brokenNumbers)) check(false, `${name}: broken on paper: ${number}`);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  check((await folded()) === before, `${name}: unfolded after printing`);
  await close();
};

const files = readdirSync(resolve(folder)).filter((name) => name.endsWith(".html")).sort();
check(files.length > 0, `no page in ${folder}`);
let found = "";
for (const name of files) {
  const file = join(resolve(folder), name);
  for (const width of [360, 1280]) {
    for (const scheme of ["light", "dark"]) await looks(file, width, scheme);
  }
  await keys(file);
  // Scripts of the page do not run; those of the check do.
  const { page, close } = await opened(file, { viewport: { width: 1280, height: 800 }, javaScriptEnabled: false });
  found += `# ${name}\n${(await page.evaluate(outline)).join("\n")}\n\n`;
  await close();
}
await browser.close();

if (rest.includes("--bless")) writeFileSync(outlineFile, found);
const blessed = readFileSync(outlineFile, "utf8").split("\n");
found.split("\n").forEach((line, at) => {
  if (line !== blessed[at]) check(false, `${outlineFile}:${at + 1}: blessed "${blessed[at]}", found "${line}"`);
});
check(found.split("\n").length === blessed.length, `${outlineFile}: another number of lines`);
for (const words of failures.slice(0, 40)) console.log(`FAILED: ${words}`);
console.log(`test result: ${failures.length ? "FAILED" : "ok"}. ${checks - failures.length} passed; ${failures.length} failed; 0 ignored; ${files.length} pages`);
process.exit(failures.length ? 1 : 0);
