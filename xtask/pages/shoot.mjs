// The pictures of the documents, in both colour schemes:
//
//   node shoot.mjs CHROMIUM PICTURES PAGE HEADING …
//
// Each shows what is below that heading of the page, or its top. WebP, which Chromium writes itself: a
// tenth of the bytes of PNG.
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [program, pictures, ...pages] = process.argv.slice(2);
const viewport = { width: 1000, height: 560 };
const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox", "--disable-gpu"] });
mkdirSync(pictures, { recursive: true });
while (pages.length) {
  const [file, heading] = pages.splice(0, 2);
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ viewport, deviceScaleFactor: 1.5, colorScheme });
    const page = await context.newPage();
    await page.goto(pathToFileURL(file).href);
    if (heading) {
      const place = page.getByRole("heading", { name: heading, exact: true });
      await place.evaluate((node) => node.scrollIntoView({ behavior: "instant" }));
    }
    const session = await context.newCDPSession(page);
    const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 80 });
    writeFileSync(join(pictures, `${basename(file, ".html")}-${colorScheme}.webp`), Buffer.from(data, "base64"));
    await context.close();
  }
}
await browser.close();
