/** What journeys through the console and the account pages begin with: a browser, the fixture, and who comes in. */
import assert from "node:assert/strict";
import { after, before } from "node:test";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { Service } from "../../packages/server/src/modules/open-service.ts";
import { consolePath } from "../../packages/server/src/page-kit/page.ts";
import { type Person, signIn } from "../journeys/sign-in-steps.ts";
import { launchBrowser } from "../support/browser.ts";
import { browserOptions, enter, handName, hasPointer, hasScripts, isReady, type } from "../support/hand.ts";
import { assertUsable, type PageWatch, watchPage } from "../support/page-watch.ts";
import { type ConsoleFixture, consoleFixture, type FixtureOptions } from "./console-fixture.ts";
import { type FormArea, type SentForms, sentForms } from "./sent-forms.ts";

export type Cleanup = { after(work: () => Promise<void>): void };

export interface Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly watch: PageWatch;
  /** A page of the console: `/users`; or with the whole path. */
  open(path: string): Promise<void>;
  /** Waits for the page with this heading. */
  at(heading: string | RegExp): Promise<void>;
  /**
   * The same, and fails unless everyone can use it, which the run by keyboard finds out for all of them: for what no page shows
   * that is only asked for (console-pages.test.ts).
   */
  look(heading: string | RegExp): Promise<void>;
}

export interface Journeys {
  readonly fixture: () => ConsoleFixture;
  readonly service: () => Service;
  /** A browser of its own, which is closed, and has met no fault, when the test ends. Signed in when a person is named. */
  visitor(t: Cleanup, person?: Person, options?: BrowserContextOptions): Promise<Visitor>;
  /** Fails unless each form of the area has been sent in a browser of the file, and was taken. */
  assertAllSent(area: FormArea): void;
}

/**
 * One fixture and one browser for all journeys of a file. On PostgreSQL, unless they say which: what they do has been done on
 * SQLite by then, page by page and form by form (console-pages.test.ts, console-access.test.ts), and console-plain.test.ts is
 * on it. SIGNET_TEST_JOURNEYS=sqlite, or postgres, has all of them on one.
 */
export function journeys(given: FixtureOptions = {}): Journeys {
  const wanted = process.env["SIGNET_TEST_JOURNEYS"];
  const { database = "postgres" } = given;
  const options = { ...given, database: wanted === "sqlite" || wanted === "postgres" ? wanted : database };
  let fixture: ConsoleFixture;
  let browser: Browser;
  let forms: SentForms;
  before(async () => {
    fixture = await consoleFixture(options);
    forms = sentForms(fixture.routes);
    browser = await launchBrowser();
  });
  after(async () => {
    // What has not come up need not be closed, and must not keep the rest open.
    await (browser as Browser | undefined)?.close();
    await (fixture as ConsoleFixture | undefined)?.close();
    assert.deepEqual(fixture.running.errors, []);
  });
  const signedIn = sharedSignIns();
  return {
    fixture: () => fixture,
    service: () => fixture.running.service,
    visitor: async (t, person, contextOptions = {}) => {
      const context = await browser.newContext({
        ...browserOptions,
        ...signedIn.stateOf(person),
        ...contextOptions,
      });
      if (!hasPointer) await context.addInitScript(noPointer);
      forms.hear(context);
      const page = await context.newPage();
      const watch = await watchPage(page);
      t.after(async () => {
        await context.close();
        assert.deepEqual(watch.faults, []);
      });
      const visitor = visitorOf(fixture, { context, page, watch });
      if (person && !signedIn.stateOf(person)) {
        await visitor.open("/confirm-identity");
        await signIn(page, person);
        await page.locator("#content").waitFor();
        signedIn.keep(person, await context.storageState());
      }
      return visitor;
    },
    assertAllSent: (area) => assert.deepEqual(forms.notSent(area, hasScripts), []),
  };
}

/** The pages of the console and of the account are for the keyboard alone here: to click on one is a fault of the page's watch. */
const noPointer = `addEventListener("pointerdown", () => {
  if (document.querySelector(".top")) console.error("a pointer was used");
}, true)`;

function visitorOf(
  { baseUrl, orgId }: ConsoleFixture,
  { context, page, watch }: Pick<Visitor, "context" | "page" | "watch">,
): Visitor {
  // A question may be a page of its own, or a dialog over the page before.
  const at = (name: string | RegExp) =>
    page
      .getByRole("heading", { level: 1, name, exact: true })
      .or(page.getByRole("dialog", { name, exact: true }))
      .waitFor();
  return {
    context,
    page,
    watch,
    open: async (path) => {
      const isWhole = path.startsWith("/oauth/");
      await page.goto(baseUrl + (isWhole ? path : consolePath({ id: orgId }, path)));
    },
    at,
    look: async (heading) => {
      await at(heading);
      if (handName !== "keyboard") return;
      // From the top: what is half under the bar that stays there would be a small target.
      await page.setViewportSize({ width: 390, height: 844 });
      await page.evaluate("scrollTo(0, 0)");
      await assertUsable(page, String(heading));
    },
  };
}

type State = Awaited<ReturnType<BrowserContext["storageState"]>>;

/** Changes ask for a sign-in of the last ten minutes. */
const FRESH_MS = 4 * 60_000;

/** Who has signed in once need not do it in every browser: what is kept of it is another browser's cookies. */
function sharedSignIns() {
  const kept = new Map<string, { state: State; until: number }>();
  return {
    stateOf: (person: Person | undefined): { storageState: State } | undefined => {
      const found = person && kept.get(person.email);
      return found && found.until > Date.now() ? { storageState: found.state } : undefined;
    },
    keep: ({ email }: Person, state: State) => {
      kept.set(email, { state, until: Date.now() + FRESH_MS });
    },
  };
}

/** The text of a notice that says what was done. */
export const doneText = (page: Page): Promise<string> =>
  page.locator("#done-notice .notice-title").innerText();

/**
 * What cannot be undone asks for the name: with another one nothing happens, and the page asks again.
 * @param isThere whether it has not happened yet
 */
export async function confirmByName(
  page: Page,
  { button, name }: { button: string; name: string },
  isThere: () => Promise<unknown>,
): Promise<void> {
  await isReady(page, "name");
  await type(page, "name", `${name} or another`);
  await enter(page, button);
  await isReady(page, "name");
  assert.ok(await isThere(), "nothing happens by a wrong name");
  await type(page, "name", name);
  await enter(page, button);
}
