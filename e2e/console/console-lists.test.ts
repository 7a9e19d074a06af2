/** Lists: rows ticked and acted on, sorted, narrowed, exported, gone through by keys; in real Chromium, by whichever hand (issue 19). */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { findApplication } from "../../packages/server/src/core/applications/applications.store.ts";
import { createApplication } from "../../packages/server/src/core/applications/applications.ts";
import { createUser } from "../../packages/server/src/core/users/users.ts";
import { PASSWORD } from "../../packages/server/src/testing/test-service.ts";
import { enter, hasScripts, isByKeyboard, pick, press, pressEnter, tick, type } from "../support/hand.ts";
import { keepPictures } from "../support/page-watch.ts";
import { journeys, type Visitor } from "./console-journey.ts";

const { fixture, service, visitor, assertAllSent } = journeys();
const db = () => service().database.query;

/** What is done to the first row of each list: an act that leaves the record there comes first. */
const acts: ReadonlyArray<readonly [path: string, act: string]> = [
  ["/applications?state=enabled", "disable"],
  ["/users?search=grace", "signOut"],
  ["/users/sign-ups", "approve"],
  ["/system-accounts?state=enabled", "disable"],
  ["/scopes", "remove"],
  ["/users/:user/roles/add", "assign"],
  ["/users/:user/groups/add", "join"],
  ["/groups/:group/roles/add", "assign"],
  ["/groups/:group/members", "remove"],
  ["/applications/:application/roles", "remove"],
  ["/roles?of=application", "remove"],
  ["/groups", "remove"],
  ["/connections", "disable"],
  ["/webhooks?state=enabled", "disable"],
  ["/consents", "revoke"],
  ["/preauthorizations", "remove"],
  ["/pools/:pool/agents", "deactivate"],
  ["/pools", "disable"],
  ["devices?state=active", "revoke"],
  ["devices/codes", "withdraw"],
];

const idOf = (name: string): string =>
  (name === "user" ? fixture().user.id : fixture().ids[name === "application" ? "applications" : name]) ?? "";

const openList = ({ open, page }: Visitor, path: string) =>
  path.startsWith("/")
    ? open(path.replace(/:(\w+)/, (_, name: string) => idOf(name)))
    : page.goto(`${fixture().baseUrl}/devices/manage/${fixture().orgId}${path.slice("devices".length)}`);

/** With scripts the question is a dialog over the list. */
async function confirm(page: Page): Promise<void> {
  const place = hasScripts ? "dialog" : "main";
  await page.locator(`${place} #bulk-confirm`).waitFor();
  const name = `${place} #name`;
  if (await page.locator(name).count()) await type(page, name, "Northwind Cooperative");
  await enter(page, "bulk-confirm");
  await page.locator("#bulk-result").waitFor();
}

test("acts on ticked rows of every list, after a question", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  for (const [path, act] of acts) {
    await openList(visit, path);
    const box = page.locator("input[name=selected]").first();
    const value = await box.getAttribute("value");
    await tick(page, `input[name="selected"][value="${value}"]`);
    await press(page, `bulk-${act}`);
    await confirm(page);
    assert.match(await page.locator("main").innerText(), /1 done\./, path);
    await enter(page, "bulk-back");
    await page.locator("main .card").first().waitFor();
  }
});

test("sorts, narrows and pages a list, and exports what is shown", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const { orgId } = fixture();
  const made = { orgId, clientType: "confidential", actor: "operator" } as const;
  for (let index = 0; index < 30; index++)
    await createApplication(service(), {
      ...made,
      name: `Depot ${String(index).padStart(2, "0")}`,
      settings: { redirectUris: ["https://depot.example/cb"] },
    });
  await visit.open("/applications");
  await type(page, "search", "depot");
  await pressEnter(page);
  await page.getByText("1–25 of 30").waitFor();
  await enter(page, "main th a.sort");
  await page.locator("th[aria-sort=ascending]").waitFor();
  const names = () => page.locator("tbody a.item-name").allInnerTexts();
  assert.deepEqual((await names()).slice(0, 2), ["Depot 00", "Depot 01"]);
  await enter(page, "page-older");
  await page.getByText("26–30 of 30").waitFor();
  assert.deepEqual((await names()).at(-1), "Depot 29");
  await enter(page, "page-previous");
  await page.getByText("1–25 of 30").waitFor();
  assert.equal((await names())[0], "Depot 00");
  const downloading = page.waitForEvent("download");
  await press(page, "list-export");
  const file = await (await downloading).path();
  const lines = (await readFile(file, "utf8")).trimEnd().split("\r\n");
  assert.equal(lines.length, 31);
  assert.match(lines[1] ?? "", /,Depot 00,/);
});

if (hasScripts)
  test("with scripts, a choice and what is typed apply at once, and the focus stays", async (t) => {
    const visit = await visitor(t, fixture().admin);
    const { page } = visit;
    const person = { password: PASSWORD, firstname: "Ines", surname: "Instant", emailVerified: true };
    const organisation = { id: fixture().orgId, name: "Northwind Cooperative" };
    await createUser(service(), {
      ...person,
      organisation: (await service().organisations.find(organisation.id)) ?? assert.fail("there"),
      email: "ines@instant.example",
      role: "Standard",
      actor: "operator",
    });
    await visit.open("/users");
    await page.evaluate("window.isSamePage = true");
    await type(page, "search", "ines@instant");
    await page.locator("#page-range", { hasText: "1–1 of 1" }).waitFor();
    assert.match(page.url(), /search=ines%40instant/);
    assert.equal(await page.evaluate("document.activeElement.id"), "search");
    assert.equal(await page.locator("#search").inputValue(), "ines@instant");
    await pick(page, "state", "disabled");
    await page.locator("p", { hasText: "No results" }).waitFor();
    assert.equal(await page.evaluate("window.isSamePage"), true, "no page was loaded");
    await pick(page, "state", "active");
    await page.locator("#page-range", { hasText: "1–1 of 1" }).waitFor();
    // The rows that came can be ticked as those before.
    await tick(page, "input[name=selected]");
    await page.getByText("1 selected").waitFor();
  });

if (isByKeyboard)
  test("by keys: through the rows, ticking, opening, searching, and help that names them", async (t) => {
    const visit = await visitor(t, fixture().admin);
    const { page } = visit;
    await visit.open("/applications");
    const { keyboard } = page;
    const focusedRow = () => page.evaluate("document.activeElement.closest('tr')?.id");
    const rows = await page.locator("tbody tr").evaluateAll((all) => all.map(({ id }) => id));
    await keyboard.press("j");
    assert.equal(await focusedRow(), rows[0]);
    await keyboard.press("j");
    await keyboard.press("ArrowDown");
    await keyboard.press("k");
    assert.equal(await focusedRow(), rows[1]);
    await keyboard.press("x");
    await page.getByText("1 selected").waitFor();
    await keyboard.press("x");
    await page.locator(".bulk-count").filter({ hasText: /^$/ }).waitFor({ state: "attached" });
    await keyboard.press("/");
    assert.equal(await page.evaluate("document.activeElement.id"), "search");
    await keyboard.type("jxk?");
    assert.equal(await page.locator("#search").inputValue(), "jxk?", "what is typed is typed");
    await page.locator("p", { hasText: "No results" }).waitFor();
    await visit.open("/applications");
    await keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await help.waitFor();
    await page.locator("#list-keys-on").focus();
    await keyboard.press("Space");
    await keyboard.press("Escape");
    await help.waitFor({ state: "detached" });
    await keyboard.press("j");
    assert.equal(await focusedRow(), undefined, "letters alone are off");
    await keyboard.press("?");
    await page.locator("#list-keys-on").focus();
    await keyboard.press("Space");
    await keyboard.press("Escape");
    await help.waitFor({ state: "detached" });
    await keyboard.press("j");
    const name = await page.evaluate("document.activeElement.innerText");
    await keyboard.press("Enter");
    await visit.at(String(name));
  });

if (hasScripts)
  test("a CSV file is read into the field, and imported after it was shown", async (t) => {
    const visit = await visitor(t, fixture().admin);
    const { page } = visit;
    await visit.open("/users/import");
    const csv = (text: string) => ({
      name: "crew.csv",
      mimeType: "text/csv",
      buffer: Buffer.from(text, "latin1"),
    });
    await page.locator("#file").setInputFiles(csv("email;firstname\nrene@crew.example;Ren\u00e9"));
    await page.getByText("crew.csv read.").waitFor();
    assert.match(await page.locator("#list").inputValue(), /René$/, "also as a spreadsheet writes it");
    await page.locator("#file").setInputFiles(csv("x".repeat(2_000_000)));
    await page.getByText("The file is too large.").waitFor();
    assert.match(await page.locator("#list").inputValue(), /René$/);
    await enter(page, "import-check");
    await page.getByText("rene@crew.example").waitFor();
  });

test("a question about ticked rows that is cancelled changes nothing", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const { orgId } = fixture();
  const made = { orgId, clientType: "confidential", actor: "operator" } as const;
  const settings = { redirectUris: ["https://kept.example/cb"] };
  const { id } = await createApplication(service(), { ...made, name: "Kept", settings });
  await visit.open("/applications");
  await tick(page, `input[name="selected"][value="${id}"]`);
  await press(page, "bulk-remove");
  await page.locator("#bulk-confirm").waitFor();
  await press(page, "act-cancel");
  await page.locator("#bulk-confirm").waitFor({ state: "detached" });
  assert.equal((await findApplication(db(), orgId, id))?.name, "Kept");
});

if (isByKeyboard)
  test("every list looks right on a desk and on a phone, in light and dark", async (t) => {
    const visit = await visitor(t, fixture().admin);
    for (const [path] of acts) {
      await openList(visit, path);
      await keepPictures(visit.page, `list-${path.replaceAll(/\W+/g, "-")}`);
    }
  });

test("every form of lists was submitted", () => {
  assertAllSent("lists");
});
