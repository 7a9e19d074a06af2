/** Tables whose records have long names, in languages with long words, on every width: none is wider than its window. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { createApplication } from "../../packages/server/src/core/applications/applications.ts";
import { createUser } from "../../packages/server/src/core/users/users.ts";
import { launchBrowser } from "../support/browser.ts";
import { type ConsoleFixture, consoleFixture, signInAt } from "./console-fixture.ts";

const WIDTHS = [320, 390, 640, 800, 960, 1024, 1152, 1280];
const PAGES = [
  "",
  "/applications?search=Donau",
  "/scopes",
  "/consents",
  "/users",
  "/system-accounts",
  "/signing-keys",
  "/pools",
  "/audit-log",
];

let fixture: ConsoleFixture;
let browser: Browser;
before(async () => {
  fixture = await consoleFixture();
  browser = await launchBrowser();
  const { service } = fixture.running;
  const organisation = await service.organisations.find(fixture.orgId);
  assert.ok(organisation);
  await createApplication(service, {
    orgId: fixture.orgId,
    name: `Donaudampfschifffahrtsgesellschaftsverwaltung ${"X".repeat(50)}`,
    clientType: "confidential",
    settings: { redirectUris: [`https://${"very-long.".repeat(20)}example/callback`] },
    actor: "operator",
  });
  await createUser(service, {
    organisation,
    email: `${"a".repeat(60)}@${"b".repeat(60)}.example`,
    password: fixture.user.password,
    firstname: "Anne-Sophie-Charlotte-".repeat(3),
    surname: "Donaudampfschifffahrtsgesellschaft",
    role: "Standard",
    emailVerified: true,
    actor: "operator",
  });
});
after(async () => {
  await browser.close();
  await fixture.close();
});

for (const locale of ["en", "de", "fr"])
  test(`${locale}: every table fits every window width without broken words`, async (t) => {
    const context = await browser.newContext({ locale });
    t.after(() => context.close());
    const page = await context.newPage();
    const console = `${fixture.baseUrl}/oauth/manage/${fixture.orgId}`;
    await signInAt(page, `${console}/confirm-identity`, fixture.admin);
    for (const path of PAGES) {
      await page.goto(console + path);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        const seen = (await page.evaluate(`({
          width: document.documentElement.scrollWidth,
          narrow: [...document.querySelectorAll(".table tbody :is(th, td):not(.row-end)")]
            .filter((cell) => cell.clientWidth > 0 && cell.clientWidth < 40 && cell.innerText.trim().length > 8).length,
        })`)) as { width: number; narrow: number };
        assert.ok(seen.width <= width, `${path} is ${seen.width} wide in ${width}`);
        assert.equal(seen.narrow, 0, `${path} at ${width}`);
      }
    }
  });
