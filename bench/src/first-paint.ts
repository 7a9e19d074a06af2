/**
 * `npm run bench:paint`: the time from the beginning of a navigation to the first paint with content, how much of a processor the
 * page takes for it (which a busy machine changes less), and how far it moves afterwards, for every page of the console, of an account
 * and of the sign-in, in Chromium on the loopback (docs/benchmarks.md).
 */
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { type ConsoleFixture, consoleFixture, signInAt } from "../../e2e/console/console-fixture.ts";
import { launchBrowser } from "../../e2e/support/browser.ts";
import { median } from "./load/statistics.ts";
import { runInOwnFolder } from "./own-folder.ts";

type Browser = Awaited<ReturnType<typeof launchBrowser>>;
type Page = Awaited<ReturnType<Browser["newPage"]>>;

const LIMIT_MS = 100;
/** For what moves once the scripts have run. */
const SETTLE_MS = 100;
/** A page that has not painted by then is not going to. */
const LONGEST_MS = 10_000;

/** Runs before the page's own scripts. */
const observe = `
  window.paintAt = 0; window.moved = 0;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (one.name === "first-contentful-paint") window.paintAt = one.startTime;
  }).observe({ type: "paint", buffered: true });
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) window.moved += one.value;
  }).observe({ type: "layout-shift", buffered: true });`;

async function bench(): Promise<number> {
  const { values } = parseArgs({
    options: { rounds: { type: "string", default: "5" }, only: { type: "string", default: "" } },
  });
  const rounds = Number(values.rounds);
  const fixture = await consoleFixture();
  const browser = await launchBrowser();
  try {
    const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
    await context.addInitScript(observe);
    const page = await context.newPage();
    const signIn = consoleAddress(fixture);
    const isMeasured = ({ name, url }: Measured) =>
      // A file that is downloaded is no page.
      name.includes(values.only) && !url.endsWith("/export");
    console.log(heading);
    const first = [{ name: "sign-in", url: signIn }].filter(isMeasured);
    const slowSignIn = await pagesBeyond(page, first, rounds);
    await signInAt(page, signIn, fixture.admin);
    const seen = await pagesBeyond(page, fixture.pages.filter(isMeasured), rounds);
    if (seen.length > 0) console.log("Once more, with twice the rounds:");
    const slow = [...slowSignIn, ...(await pagesBeyond(page, seen, 2 * rounds))];
    const load = `Load of the machine: ${loadavg()[0]?.toFixed(1)}.`;
    console.log(
      slow.length === 0
        ? `Every page is within ${LIMIT_MS} ms. ${load}`
        : `${slow.length} pages are not. ${load}`,
    );
    return slow.length === 0 ? 0 : 1;
  } finally {
    await browser.close();
    await fixture.close();
  }
}

type Measured = { name: string; url: string };

const heading =
  "Page                                                        first paint, ms     processor, ms  shift";

async function pagesBeyond(
  page: Page,
  pages: readonly Measured[],
  rounds: number,
): Promise<readonly Measured[]> {
  const beyond: Measured[] = [];
  for (const one of pages) if (!(await isWithin(page, { ...one, rounds }))) beyond.push(one);
  return beyond;
}

const consoleAddress = ({ baseUrl, orgId }: ConsoleFixture): string =>
  `${baseUrl}/oauth/manage/${orgId}/confirm-identity`;

/** The time from the last navigation's request to its first paint with content, as the browser itself tells it. */
async function paintWatch(page: Page) {
  const browser = await page.context().newCDPSession(page);
  let asked = 0;
  let painted = 0;
  browser.on("Network.requestWillBeSent", ({ type, timestamp }) => {
    if (type === "Document") [asked, painted] = [timestamp, 0];
  });
  browser.on("Page.lifecycleEvent", ({ name, timestamp }) => {
    if (name === "firstContentfulPaint") painted = timestamp;
  });
  await browser.send("Network.enable");
  await browser.send("Page.enable");
  await browser.send("Page.setLifecycleEventsEnabled", { enabled: true });
  await browser.send("Performance.enable", { timeDomain: "threadTicks" });
  const ms = () => Math.max(0, (painted - asked) * 1_000);
  return {
    ms,
    /** Until it has painted: on a busy machine that is long after its load event. */
    wait: async () => {
      for (const end = Date.now() + LONGEST_MS; ms() === 0 && Date.now() < end; )
        await page.waitForTimeout(5);
    },
    /** Of the page's main thread since the navigation: parsing, style, layout, paint, scripts. */
    processorMs: async () => {
      const { metrics } = await browser.send("Performance.getMetrics");
      return 1_000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0);
    },
    end: () => browser.detach(),
  };
}

/** Whether the median of the rounds is within the limit, and nothing moves. The first round of a page fills the caches. */
async function isWithin(
  page: Page,
  { name, url, rounds }: { name: string; url: string; rounds: number },
): Promise<boolean> {
  const times: number[] = [];
  const worked: number[] = [];
  let moved = 0;
  const painted = await paintWatch(page);
  for (let round = 0; round <= rounds; round++) {
    await page.goto(url, { waitUntil: "load" });
    // An address that only leads to another page (a bulk act without a choice) is that page's time, not its own.
    if (new URL(page.url()).pathname !== new URL(url).pathname) {
      await painted.end();
      return true;
    }
    await painted.wait();
    await page.waitForTimeout(SETTLE_MS);
    const spent = await painted.processorMs();
    // A preview runs no scripts, neither its own nor these: nothing there moves, and the browser tells when it painted.
    const [at, by] = (await page.evaluate("[window.paintAt ?? 0, window.moved ?? 0]")) as [number, number];
    moved = Math.max(moved, by);
    if (round === 0) continue;
    times.push(at === 0 ? painted.ms() : at);
    worked.push(spent);
  }
  await painted.end();
  times.sort((one, other) => one - other);
  const middle = median(times);
  const figures = `${middle.toFixed(0)} (${times[0]?.toFixed(0)} to ${times.at(-1)?.toFixed(0)})`;
  const isGood = middle > 0 && middle <= LIMIT_MS && moved === 0;
  const least = Math.min(...worked).toFixed(0);
  console.log(
    `${name.padEnd(58)}  ${figures.padEnd(18)}  ${least.padEnd(13)}  ${moved.toFixed(3)}${isGood ? "" : "  short"}`,
  );
  return isGood;
}

await runInOwnFolder(bench);
