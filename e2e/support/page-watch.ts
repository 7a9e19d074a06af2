/** What a browser finds wrong with a page: for assistive technology, for the security policy, for a narrow screen. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type axe from "axe-core";
import type { Page, Request } from "playwright-core";

export type PageWatch = {
  /** What was asked for since the last `reset`, in order: kind and address. */
  requests: Request[];
  /** Console errors, script errors and violations of the Content-Security-Policy since the last `reset`. */
  faults: string[];
  reset(): void;
};

// The browser's own note about an answer's status; whether the status is the right one is for the test to say.
const statusNote = /^Failed to load resource: the server responded with a status of 4\d\d/;
// In the frame with a mail or a draft of the sign-in page no script runs: not the one below either, which is meant for the
// page around it.
const sandboxNote =
  /^Blocked script execution in '\S+\/(?:mail-templates\/|settings\/(?:branding|sign-in-methods|logo)\/preview')/;
const reportViolations = `document.addEventListener("securitypolicyviolation", (event) => {
  console.error("CSP " + event.effectiveDirective + " " + event.blockedURI);
});`;

/** Watches a page from before its first navigation. */
export async function watchPage(page: Page): Promise<PageWatch> {
  const watch: PageWatch = {
    requests: [],
    faults: [],
    reset: () => {
      watch.requests.length = 0;
      watch.faults.length = 0;
    },
  };
  page.on("request", (request) => watch.requests.push(request));
  page.on("requestfailed", (request) => {
    // Given up by the browser itself: the page was left meanwhile, or what came is saved as a file.
    if (request.failure()?.errorText === "net::ERR_ABORTED") return;
    watch.faults.push(`${request.url()} ${request.failure()?.errorText}`);
  });
  page.on("pageerror", (error) => watch.faults.push(String(error)));
  page.on("console", (message) => {
    const text = message.text();
    if (message.type() !== "error" || statusNote.test(text) || sandboxNote.test(text)) return;
    watch.faults.push(text);
  });
  await page.addInitScript(reportViolations);
  return watch;
}

/**
 * Fails unless everyone can use the page as it is now: in light and in dark, on a phone and on a desk. For a page of a
 * context in light, and leaves it in light, on a desk. In dark only colours differ, so that the rest is looked at once.
 */
export async function assertUsable(page: Page, name: string): Promise<void> {
  await page.waitForLoadState("load");
  await page.setViewportSize({ width: 390, height: 844 });
  if (!(await page.evaluate("'axe' in window"))) await addAxe(page);
  const whole = { rules: { "target-size": { enabled: true } } };
  await page.evaluate(takesPlace);
  await page.evaluate(isShownWhole);
  assert.deepEqual(await axeViolations(page, whole), [], `${name}: axe`);
  assert.deepEqual(await smallTargets(page), [], `${name}: targets under 44 px`);
  for (const width of [390, 320, 1280]) {
    if (width !== 390) await page.setViewportSize({ width, height: 800 });
    assert.ok(await fitsInWidth(page), `${name}: scrolls sideways at ${width} px`);
    assert.deepEqual(await page.evaluate(overlaps), [], `${name}: parts of a field overlap at ${width} px`);
  }
  await page.emulateMedia({ colorScheme: "dark" });
  assert.equal(await page.evaluate(isDarkAtOnce), true, `${name}: is in dark`);
  assert.deepEqual(await axeViolations(page, { runOnly: ["color-contrast"] }), [], `${name}: axe in dark`);
  await page.emulateMedia({ colorScheme: "light" });
}

export const axeFile = fileURLToPath(import.meta.resolve("axe-core/axe.min.js"));

/**
 * By the browser's own protocol, which compiles it once for all pages: `page.evaluate` takes three times as long. The session
 * ends with the page: one that is detached takes a virtual authenticator of the page along.
 */
async function addAxe(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const expression = `${await readFile(axeFile, "utf8")}\n;0`;
  const { exceptionDetails } = await session.send("Runtime.evaluate", { expression });
  assert.equal(exceptionDetails, undefined, "axe");
}

/**
 * A bar that stays at the bottom takes its place in the page: what is half under it, until one scrolls on, is no small target.
 * (What gets the focus is never under it: CSS's scroll-padding.)
 */
const takesPlace = `for (const element of document.querySelectorAll("main *")) {
  const { position, bottom } = getComputedStyle(element);
  if (position === "sticky" && bottom !== "auto") element.style.position = "static";
}`;

/** A message that is still fading in is judged as it is going to be. What has no end (a dot that waits) goes on. */
const isShownWhole = `for (const animation of document.getAnimations())
  if (Number.isFinite(animation.effect?.getComputedTiming().endTime)) animation.finish();`;

/** What is on the way from one colour to the other would be judged by neither: the change is at once. */
const isDarkAtOnce = `(() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("*, ::before, ::after { transition: none !important }");
  document.adoptedStyleSheets.push(sheet);
  return matchMedia("(prefers-color-scheme: dark)").matches;
})()`;

async function axeViolations(page: Page, options: axe.RunOptions): Promise<string[]> {
  // No rule that is on needs anything loaded first, and nobody reads the selectors.
  const all = { resultTypes: ["violations"], preload: false, selectors: false, ...options };
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(all)})`)) as axe.AxeResults;
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** For people to look at: written where SIGNET_SCREENSHOTS names a folder, at both sizes, in light and in dark. */
export async function keepPictures(page: Page, name: string): Promise<void> {
  const folder = process.env["SIGNET_SCREENSHOTS"];
  if (folder === undefined) return;
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const [width, height] of [
      [390, 844],
      [1280, 800],
    ] as const) {
      await page.setViewportSize({ width, height });
      await page.screenshot({
        path: path.join(folder, `${name.replaceAll(/\W+/g, "-")}-${width}-${colorScheme}.png`),
        fullPage: true,
      });
    }
  }
}

function smallTargets(page: Page): Promise<string[]> {
  // A box to tick, and a choice, has its label as the target. What is hidden from everybody is there for the Enter key.
  return page.evaluate(`[...document.querySelectorAll(
      "button:not([aria-hidden]), .button, input:not([type=checkbox], [type=radio]), select, .check label, .option label, summary, .person a, .app a, .items a, .table a"
    )]
    .filter((element) => element.checkVisibility() && element.getBoundingClientRect().height < 43.5)
    .map((element) => element.outerHTML)`) as Promise<string[]>;
}

/** Label, explanation and control of a field each have a place of their own. A link beside them is larger to the finger than to the eye. */
const overlaps = `[...document.querySelectorAll(".field")].flatMap((field) => {
  const parts = [...field.children].filter((part) => !part.matches("a") && part.checkVisibility() && part.getBoundingClientRect().width > 1);
  const boxes = parts.map((part) => part.getBoundingClientRect());
  return boxes.flatMap((one, index) =>
    boxes.slice(index + 1).some(({ left, right, top, bottom }) =>
      Math.min(one.right, right) - Math.max(one.left, left) > 1 && Math.min(one.bottom, bottom) - Math.max(one.top, top) > 1)
      ? [parts[index].outerHTML.slice(0, 120)] : []);
})`;

function fitsInWidth(page: Page): Promise<boolean> {
  return page.evaluate(
    "document.documentElement.scrollWidth <= document.documentElement.clientWidth",
  ) as Promise<boolean>;
}
