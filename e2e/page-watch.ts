/** What a browser finds wrong with a page: for assistive technology, for the security policy, for a narrow screen. */
import assert from "node:assert/strict";
import axe from "axe-core";
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
// In the frame with a mail no script runs: not the one below either, which is meant for the page around it.
const sandboxNote = /^Blocked script execution in '\S+\/mail-templates\//;
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

/** Fails unless everyone can use the page as it is now, on a phone and on a desk. */
export async function assertUsable(page: Page, name: string): Promise<void> {
  await page.setViewportSize({ width: 390, height: 844 });
  assert.deepEqual(await axeViolations(page), [], `${name}: axe`);
  assert.deepEqual(await smallTargets(page), [], `${name}: targets under 44 px`);
  for (const width of [320, 390, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    assert.ok(await fitsInWidth(page), `${name}: scrolls sideways at ${width} px`);
  }
}

async function axeViolations(page: Page): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  const options = { resultTypes: ["violations"], rules: { "target-size": { enabled: true } } };
  const { violations } = (await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)})`,
  )) as axe.AxeResults;
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** Scripts for the page are text, as the compiler knows only Node's names. */
function smallTargets(page: Page): Promise<string[]> {
  // A box to tick, and a choice, has its label as the target. What is hidden from everybody is there for the Enter key.
  return page.evaluate(`[...document.querySelectorAll(
      "button:not([aria-hidden]), .button, input:not([type=checkbox], [type=radio]), select, .check label, .option label, summary, .person a, .app a, .items a, .table a"
    )]
    .filter((element) => element.checkVisibility() && element.getBoundingClientRect().height < 43.5)
    .map((element) => element.outerHTML)`) as Promise<string[]>;
}

function fitsInWidth(page: Page): Promise<boolean> {
  return page.evaluate(
    "document.documentElement.scrollWidth <= document.documentElement.clientWidth",
  ) as Promise<boolean>;
}
