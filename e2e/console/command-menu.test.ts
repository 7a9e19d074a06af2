/** The command menu in real Chromium: by keyboard, by mouse, on a phone, in the dark, without scripts, and without an answer. */
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { launchBrowser } from "../support/browser.ts";
import { assertUsable, watchPage } from "../support/page-watch.ts";
import { type ConsoleFixture, consoleFixture, signInAt } from "./console-fixture.ts";

let fixture: ConsoleFixture;
let browser: Browser;
before(async () => {
  fixture = await consoleFixture();
  browser = await launchBrowser();
});
after(async () => {
  await browser.close();
  await fixture.close();
  assert.deepEqual(fixture.running.errors, []);
});

type Cleanup = { after(work: () => Promise<void>): void };

async function openHome(t: Cleanup, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const watch = await watchPage(page);
  t.after(async () => {
    await context.close();
    assert.deepEqual(watch.faults, []);
  });
  await signInAt(page, `${fixture.baseUrl}/oauth/manage/${fixture.orgId}/confirm-identity`, fixture.admin);
  await page.goto(`${fixture.baseUrl}/oauth/manage/${fixture.orgId}`);
  return page;
}

const input = (page: Page) => page.locator("#command-input");
const chosen = (page: Page) => page.locator("#command [aria-selected=true]");
const option = (page: Page, name: string | RegExp) => page.getByRole("option", { name });
const shoot = async (page: Page, name: string) => {
  const folder = process.env["SIGNET_SCREENSHOTS"];
  if (folder) await page.screenshot({ path: path.join(folder, `${name}.png`) });
};

describe("the command menu", () => {
  test("opens by the keyboard, moves by arrows, opens by Enter, and Escape gives the focus back", async (t) => {
    const page = await openHome(t);
    await page.keyboard.press("Control+k");
    await option(page, "Applications").first().waitFor();
    await shoot(page, "command-empty");
    await assertUsable(page, "command menu");
    const first = await chosen(page).innerText();
    await page.keyboard.press("ArrowDown");
    assert.notEqual(await chosen(page).innerText(), first);
    await page.keyboard.press("ArrowUp");
    assert.equal(await chosen(page).innerText(), first);
    await page.keyboard.press("ArrowUp");
    assert.equal(
      await input(page).getAttribute("aria-activedescendant"),
      await chosen(page).getAttribute("id"),
    );
    await page.keyboard.press("Escape");
    await input(page).waitFor({ state: "hidden" });
    await page.locator("#command-open").focus();
    await page.keyboard.press("Enter");
    await input(page).fill("new app");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/applications/new");
  });

  test("opens nothing by an answer to what stood there before", async (t) => {
    const page = await openHome(t);
    // The answer to the empty field comes after the words, and before they are asked for: on a busy machine.
    await page.evaluate(`((now) => {
      window.setTimeout = (work, milliseconds) => now(work, milliseconds * 10);
    })(window.setTimeout)`);
    await page.route("**/search?q=", async (route) => {
      await delay(300);
      // It may be given up by then.
      await route.continue().catch(() => {});
    });
    await page.keyboard.press("Control+k");
    await input(page).fill("new app");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/applications/new");
  });

  test("leads from a pasted ID to the record, and remembers it", async (t) => {
    const page = await openHome(t);
    const id = fixture.ids["applications"] ?? "";
    await page.keyboard.press("Control+k");
    await input(page).fill(id);
    // Before the answer is there: Enter waits for it.
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/applications/${id}`);
    const name = await page.locator("h1 bdi").innerText();
    await page.keyboard.press("Control+k");
    const recent = page.getByRole("group", { name: "Recent" }).getByRole("option").first();
    assert.equal(await recent.locator("bdi").first().innerText(), name, "the name alone, without the mark");
    const stored = await page.evaluate("JSON.stringify(localStorage)");
    assert.ok(!String(stored).includes(fixture.admin.password));
    await page.keyboard.press("Escape");
    await page.locator("#who-open").click();
    await page.locator("#nav-sign-out").click();
    await page.getByRole("heading", { level: 1, name: "You’re signed out" }).waitFor();
    assert.equal(await page.evaluate("localStorage.length"), 0, "until its reader signs out");
  });

  test("shows nobody what another one has opened", async (t) => {
    const page = await openHome(t);
    const items = [
      { label: "Payroll", icon: "M2 2h9", uri: `/oauth/manage/${fixture.orgId}/applications/x` },
    ];
    const remembered = async (reader: string) => {
      const value = JSON.stringify(JSON.stringify({ reader, items }));
      await page.evaluate(`localStorage.setItem("signet-recent:${fixture.orgId}", ${value})`);
      await page.reload();
      await page.keyboard.press("Control+k");
      await option(page, "Home").waitFor();
      return option(page, "Payroll").count();
    };
    assert.equal(await remembered(fixture.admin.id), 1);
    assert.equal(await remembered(fixture.user.id), 0);
  });

  test("ignores what is no address of this console among the remembered pages", async (t) => {
    const page = await openHome(t);
    const items = [
      { label: "Elsewhere", uri: "https://evil.example/" },
      { label: "Script", uri: "javascript:alert(1)" },
    ];
    const value = JSON.stringify(JSON.stringify({ reader: fixture.admin.id, items }));
    await page.evaluate(`localStorage.setItem("signet-recent:${fixture.orgId}", ${value})`);
    await page.keyboard.press("Control+k");
    await option(page, "Home").waitFor();
    assert.equal(await option(page, /Elsewhere|Script/).count(), 0);
  });

  test("works with the mouse, in the dark", async (t) => {
    const page = await openHome(t, { colorScheme: "dark" });
    await page.locator("#command-open").click();
    await input(page).fill("user");
    // The list from before anything was typed has the same line, and goes when the answer comes.
    await option(page, "Home").waitFor({ state: "detached" });
    await option(page, "Invite user").hover();
    assert.match(await chosen(page).innerText(), /Invite user/);
    await shoot(page, "command-dark");
    await assertUsable(page, "command menu in the dark");
    await option(page, "Invite user").click();
    await page.waitForURL("**/users/new");
    await page.locator("#command-open").click();
    await page.mouse.click(4, 4);
    await input(page).waitFor({ state: "hidden" });
  });

  test("fills a phone's screen", async (t) => {
    const page = await openHome(t, { viewport: { width: 390, height: 844 }, hasTouch: true });
    await page.locator("#command-open").tap();
    await input(page).fill("a");
    await page.getByRole("option").first().waitFor();
    assert.deepEqual(await page.evaluate("[command.offsetWidth, command.offsetHeight]"), [390, 844]);
    await shoot(page, "command-phone");
    await assertUsable(page, "command menu on a phone");
    await page.locator("#command .icon-button").tap();
    await input(page).waitFor({ state: "hidden" });
  });

  test("shows only the answer to the last text, and says when there is none", async (t) => {
    const page = await openHome(t);
    let release: (() => void) | undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route("**/search?q=audit", async (route) => {
      await held;
      await route.continue().catch(() => {});
    });
    await page.keyboard.press("Control+k");
    const asked = page.waitForRequest("**/search?q=audit");
    await input(page).fill("audit");
    await asked;
    await input(page).fill("emails");
    await option(page, "Home").waitFor({ state: "detached" });
    await page.getByRole("option", { name: "Emails", exact: true }).waitFor();
    release?.();
    assert.equal(await page.getByRole("option", { name: "Audit log", exact: true }).count(), 0);
    await input(page).fill("xyzzy");
    await page.getByText("No results for “xyzzy”.").waitFor();
    await shoot(page, "command-none");
    await page.route("**/search?q=zzz", (route) => route.fulfill({ status: 200, body: "no JSON" }));
    await input(page).fill("zzz");
    await page.getByText("Search isn’t available right now.").waitFor();
  });

  test("is a link to a page with the same results without scripts", async (t) => {
    const page = await openHome(t, { javaScriptEnabled: false });
    await page.locator("#command-open").click();
    await page.locator("#search").fill("invite");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Invite user" }).waitFor();
    await shoot(page, "command-page");
    await page.getByRole("link", { name: "Invite user" }).click();
    await page.waitForURL("**/users/new");
  });
});
