/** The components where scripts run, in real Chromium: each by its behaviour, on the page that shows them all. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { launchBrowser } from "../support/browser.ts";
import { assertUsable, keepPictures, watchPage } from "../support/page-watch.ts";
import type { Cleanup } from "./console-journey.ts";
import { type KitService, startKitService } from "./kit-service.ts";

let service: KitService;
let browser: Browser;
before(async () => {
  service = await startKitService();
  browser = await launchBrowser();
});
after(async () => {
  await browser.close();
  await service.close();
});

async function openKit(t: Cleanup, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const watch = await watchPage(page);
  t.after(async () => {
    await context.close();
    assert.deepEqual(watch.faults, []);
  });
  await page.goto(`${service.baseUrl}/console-kit`);
  return page;
}

test("everyone can use the page, in light and in dark, on a phone and on a desk", async (t) => {
  const page = await openKit(t);
  await assertUsable(page, "console-kit");
  await keepPictures(page, "console-kit");
  await page.goto(`${service.baseUrl}/console-kit/terminal`);
  await assertUsable(page, "terminal");
});

test("a question opens in a dialog, which Escape closes and which gives the focus back", async (t) => {
  const page = await openKit(t);
  await page.locator("#b-danger").focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Delete Payroll?" });
  await dialog.locator("#name").fill("Pay");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.equal(await page.evaluate("document.activeElement.id"), "b-danger");
  await page.locator("#b-danger").click();
  await dialog.locator("#act-cancel").click();
  await dialog.waitFor({ state: "detached" });
  assert.equal(new URL(page.url()).pathname, "/console-kit");
});

test("without scripts a question has its own page, and a list of addresses a row to spare", async (t) => {
  const page = await openKit(t, { javaScriptEnabled: false });
  assert.equal(await page.locator(".uri-row input").count(), 2);
  assert.equal(await page.locator("#kit-uris-list [data-add-row]").isVisible(), false);
  assert.equal(await page.locator(".bulk-bar").isVisible(), true);
  await page.locator("#b-danger").click();
  await page.getByRole("heading", { level: 1, name: "Delete Payroll?" }).waitFor();
});

test("a long form counts its changes, and Discard puts them back", async (t) => {
  const page = await openKit(t);
  const count = page.locator("#kit-form .save-bar-count");
  assert.equal(await count.innerText(), "");
  await page.locator("#kit-name").fill("Payroll 2");
  assert.equal(await count.innerText(), "1 unsaved change");
  await page.locator("#kit-scopes-email").uncheck();
  await page.locator("#kit-scopes-phone").check();
  assert.equal(await count.innerText(), "2 unsaved changes");
  await page.locator("[data-discard]").click();
  // Not by a function that the page calls: its policy refuses one that is made of text.
  await page.locator("#kit-form .save-bar-count", { hasText: /^$/ }).waitFor({ state: "attached" });
  assert.equal(await page.locator("#kit-name").inputValue(), "Payroll");
});

test("rows of addresses are added and taken away", async (t) => {
  const page = await openKit(t);
  const rows = page.locator("#kit-uris-list .uri-row");
  await page.locator("#kit-uris-list [data-add-row]").click();
  assert.equal(await rows.count(), 3);
  await page.keyboard.type("https://new.example/callback");
  assert.equal(await rows.nth(2).locator("input").inputValue(), "https://new.example/callback");
  await rows.nth(1).locator("[data-remove-row]").click();
  assert.equal(await rows.count(), 2);
});

test("ticked rows show what can be done with them", async (t) => {
  const page = await openKit(t);
  const bar = page.locator(".bulk-bar");
  assert.equal(await bar.isVisible(), false);
  await page.locator("[data-select-all]").check();
  assert.equal(await page.locator(".bulk-count").innerText(), "3 selected");
  await page.getByRole("checkbox", { name: "Select Grace Okafor" }).uncheck();
  assert.equal(await page.locator(".bulk-count").innerText(), "2 selected");
  assert.equal(await page.evaluate("document.querySelector('[data-select-all]').indeterminate"), true);
});

test("boxes and choices have the page's own colours in dark, and what a menu takes away is red", async (t) => {
  const page = await openKit(t, { colorScheme: "dark" });
  const colours = await page.evaluate(`(() => {
    const of = (colour) => {
      const probe = document.body.appendChild(document.createElement("i"));
      probe.style.color = "var(" + colour + ")";
      const { color } = getComputedStyle(probe);
      probe.remove();
      return color;
    };
    const boxes = [...document.querySelectorAll("input:is([type=checkbox], [type=radio])")];
    const backgrounds = (isOn) => [
      ...new Set(boxes.filter(({ checked }) => checked === isOn).map((box) => getComputedStyle(box).backgroundColor)),
    ];
    const acts = [...document.querySelectorAll("#more a.failed")].map((act) => getComputedStyle(act).color);
    return {
      seen: { unticked: backgrounds(false), ticked: backgrounds(true), acts: [...new Set(acts)] },
      wanted: { unticked: [of("--surface")], ticked: [of("--accent")], acts: [of("--danger")] },
    };
  })()`);
  const { seen, wanted } = colours as Record<string, unknown>;
  assert.deepEqual(seen, wanted);
});

test("from right to left time still runs as the bars do, and the menus open below their buttons", async (t) => {
  const page = await openKit(t);
  await page.evaluate("document.documentElement.dir = 'rtl'");
  const ticks = (await page.evaluate(
    "[...document.querySelector('.chart-ticks').children].map((tick) => tick.getBoundingClientRect().left)",
  )) as number[];
  assert.ok(ticks.length > 2);
  assert.deepEqual(
    ticks,
    ticks.toSorted((a, b) => a - b),
  );
  const edge = (id: string, side: string) =>
    page.evaluate(`document.getElementById("${id}").getBoundingClientRect().${side}`) as Promise<number>;
  for (const [direction, side] of [
    ["rtl", "right"],
    ["ltr", "left"],
  ] as const) {
    await page.evaluate(`document.documentElement.dir = '${direction}'`);
    await page.locator("#switch-open").click();
    assert.ok(Math.abs((await edge("switch", side)) - (await edge("switch-open", side))) < 2, direction);
    assert.ok((await edge("switch", "top")) >= (await edge("switch-open", "bottom")));
    assert.equal(await page.locator("#switch [aria-current=true]").innerText(), "NC\nNorthwind Cooperative");
    await page.keyboard.press("Escape");
  }
});

test("a secret is masked until it is shown, and saved as a line of a file", async (t) => {
  const page = await openKit(t);
  const masked = page.locator("#kit-secret.masked");
  assert.equal(await masked.count(), 1);
  await page.locator("[data-secret-show=kit-secret]").click();
  assert.equal(await masked.count(), 0);
  const saving = page.waitForEvent("download");
  await page.locator("#kit-secret-download").click();
  const stream = await (await saving).createReadStream();
  assert.equal((await stream.toArray()).join(""), "SIGNET_OAUTH_CLIENT_SECRET=sk_2b7f0c1e9d\n");
});

test("times are in the reader's zone, with the exact time on hover", async (t) => {
  const page = await openKit(t, { timezoneId: "Pacific/Auckland", locale: "en-GB" });
  const [first] = await page.locator("#table time").all();
  assert.equal(await first?.innerText(), "now");
  const at = new Date((await first?.getAttribute("datetime")) ?? "");
  const words = new Intl.DateTimeFormat("en-GB", {
    dateStyle: "medium",
    timeStyle: "medium",
    timeZone: "Pacific/Auckland",
  });
  assert.equal(await first?.getAttribute("title"), words.format(at));
});

test("a toast is closed by its button, and a colour is picked or typed", async (t) => {
  const page = await openKit(t);
  await page.locator("[data-toast-close]").click();
  assert.equal(await page.locator(".toast").count(), 0);
  await page.locator("#kit-colour").fill("#0B6B5F");
  assert.equal(await page.locator("#kit-colour-picker").inputValue(), "#0b6b5f");
  await page.locator("#kit-colour-picker").fill("#112233");
  assert.equal(await page.locator("#kit-colour").inputValue(), "#112233");
});

test("scopes are searched, and ticked ones stay", async (t) => {
  const page = await openKit(t);
  await page.locator("#kit-scopes-search").fill("payslip");
  assert.deepEqual(await page.locator("[data-scope-name]:not([hidden]) code").allInnerTexts(), [
    "openid",
    "email",
    "payslips",
  ]);
});

test("a chart tells the numbers under the pointer, and has them as a table for everybody", async (t) => {
  const page = await openKit(t);
  const chart = page.locator("#kit-bars-chart");
  const tip = chart.locator(".chart-tip");
  const drawing = chart.locator("svg");
  await chart.scrollIntoViewIfNeeded();
  const box = await drawing.boundingBox();
  assert.ok(box);
  const at = (part: number) => page.mouse.move(box.x + box.width * part, box.y + box.height / 2);
  const cells = (row: number) => chart.locator("tbody tr").nth(row).locator("th, td").allTextContents();
  for (const [part, row] of [
    [0.001, 0],
    [0.5, 15],
    [0.999, 29],
  ] as const) {
    await at(part);
    const [point = "", first = ""] = await cells(row);
    const said = await tip.innerText();
    assert.ok(said.startsWith(point) && said.includes(`Passkey\n${first}`), `${said} at ${part}`);
    const shown = await tip.boundingBox();
    const whole = await chart.boundingBox();
    assert.ok(shown && whole && shown.x >= whole.x && shown.x + shown.width <= whole.x + whole.width + 1);
  }
  await page.mouse.move(box.x, box.y - 60);
  await tip.waitFor({ state: "hidden" });

  const plain = await openKit(t, { javaScriptEnabled: false });
  await plain.locator("#kit-bars-chart summary").click();
  assert.equal(await plain.locator("#kit-bars-chart tbody tr").count(), 30);
  assert.ok(await plain.locator("#kit-bars-chart tbody tr").first().isVisible());
});

test("the menu of further acts opens and moves by the keyboard, closes by Escape, and needs no script", async (t) => {
  const page = await openKit(t);
  const focused = () => page.evaluate("document.activeElement.id");
  await page.locator("#more-open").focus();
  await page.keyboard.press("ArrowDown");
  assert.equal(await focused(), "kit-more-log");
  await page.keyboard.press("ArrowUp");
  assert.equal(await focused(), "kit-more-delete", "what is dangerous comes last");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Delete Payroll?" });
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await page.locator("#more").waitFor({ state: "hidden" });

  const plain = await openKit(t, { javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
  await plain.locator("#more-open").click();
  const box = await plain.locator("#more").boundingBox();
  assert.ok(box && box.x >= 0 && box.x + box.width <= 390, "within the screen");
  await plain.locator("#kit-more-terminal").click();
  await plain.waitForURL("**/terminal");
});
