/** `@signet/nextjs` in real Next.js and Chromium: two tabs, tokens that expire, sign-outs here and elsewhere; on Node and at the edge. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createTestIssuer, type TestIssuer } from "@signet/testing";
import { launchBrowser } from "../../e2e/support/browser.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { type NextApplication, type NextOptions, startNextApplication } from "./nextjs-package.ts";
import { missingNpmClients } from "./node-program.ts";

const timeout = 300_000;
const skip = missingNpmClients();
const SECRETS = { SIGNET_COOKIE_SECRETS: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" };

type Browser = Awaited<ReturnType<typeof launchBrowser>>;
type Page = Awaited<ReturnType<Browser["newPage"]>>;

let browser: Browser;
before(async () => {
  if (!skip) browser = await launchBrowser();
});
after(() => browser?.close());

interface World {
  readonly url: string;
  readonly issuer: TestIssuer;
  readonly application: NextApplication;
  /** Of the issuer and the application. */
  move(milliseconds: number): Promise<void>;
  tab(): Promise<Page>;
}

async function withNext(
  middleware: NextOptions["middleware"],
  act: (world: World) => Promise<void>,
): Promise<void> {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  let movedMs = 0;
  await using issuer = await createTestIssuer({
    users: [{ email: "ada@acme.example", firstname: "Ada", surname: "Lovelace" }],
    applications: [
      {
        name: "Next",
        url,
        accessTokenLifetimeSeconds: 600,
        backchannelLogoutUri: `${url}/signet/back-channel-logout`,
      },
    ],
    clock: () => Date.now() + movedMs,
  });
  const environment = { ...issuer.environmentOf("next"), ...SECRETS };
  const application = await startNextApplication({ port, environment, middleware });
  const context = await browser.newContext();
  const move = async (milliseconds: number) => {
    movedMs = milliseconds;
    await application.move(milliseconds);
  };
  try {
    await act({ url, issuer, application, move, tab: () => context.newPage() });
  } catch (error) {
    throw new Error(application.output().slice(-4_000), { cause: error });
  } finally {
    await context.close();
    await application.stop();
  }
}

const shown = (page: Page, id: string) => page.locator(`#${id}`).innerText();

async function signsInAndOut({ url, issuer, application, tab }: World): Promise<Page> {
  const page = await tab();
  await page.goto(url);
  assert.equal(await shown(page, "out"), "Welcome");
  await issuer.signInAs(page, "ada@acme.example", `${url}/orders?page=2`);
  const { id } = issuer.user("ada@acme.example");
  assert.equal(await shown(page, "user"), `Ada Lovelace ada@acme.example ${id}`);
  assert.equal(page.url(), `${url}/orders?page=2`);
  await page.locator("input[name=what]").fill("tea");
  await page.locator("#order").click();
  await eventually("the action ran", () => application.output().includes("ordered tea for ada@acme.example"));
  await page.goto(`${url}/me`);
  assert.match(await page.locator("body").innerText(), /"email":"ada@acme\.example"/);
  await page.goto(`${url}/classic`);
  assert.equal(await shown(page, "name"), "Ada");
  const other = await tab();
  await other.goto(url);
  assert.equal(await shown(other, "in"), "Welcome back");
  await other.locator("summary").click();
  await other.getByRole("button", { name: "Sign out" }).click();
  await other.locator("#out").waitFor();
  await issuer.expectSignedOut(page, `${url}/orders`);
  return page;
}

test("on Node: two tabs, a token that has expired, sign-outs here and elsewhere", { skip, timeout }, () =>
  withNext("proxy", async (world) => {
    const { url, issuer, move, tab } = world;
    const page = await signsInAndOut(world);
    await issuer.signInAs(page, "ada@acme.example", `${url}/orders`);
    const token = await shown(page, "token");
    const other = await tab();
    await move(700_000);
    await Promise.all([page.goto(`${url}/orders`), other.goto(`${url}/orders`)]);
    const renewed = await shown(page, "token");
    assert.notEqual(renewed, token);
    assert.equal(await shown(other, "token"), renewed, "one renewal for both");
    await issuer.signOutEverywhere("ada@acme.example");
    await eventually("the application has heard of it", async () => {
      await page.goto(`${url}/orders`);
      return page.url().startsWith(issuer.baseUrl);
    });
    await issuer.expectSignedOut(other, `${url}/orders`);
  }),
);

test("in the edge runtime", { skip, timeout }, () =>
  withNext("middleware", async (world) => void (await signsInAndOut(world))),
);
