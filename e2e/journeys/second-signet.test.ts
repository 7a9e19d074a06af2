/**
 * A second Signet as the organisation's identity provider, connected by the console alone, in real Chromium: set up, tested, enabled;
 * first and second sign-in, an account that was there, the account page, and a domain that is enforced.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import type { Application } from "../../packages/server/src/core/applications/application.ts";
import { findIdentity } from "../../packages/server/src/core/connections/sign-in/linked-identities.store.ts";
import { changeDomain } from "../../packages/server/src/core/domains/domains.ts";
import { findUserByEmail } from "../../packages/server/src/core/users/users.store.ts";
import { createUser } from "../../packages/server/src/core/users/users.ts";
import { MAIL_ENV } from "../../packages/server/src/testing/fakes/mailbox.ts";
import { breakGlass, provenDomain } from "../../packages/server/src/testing/fixtures/routed-domain.ts";
import { requestQuery } from "../../packages/server/src/testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";
import { launchBrowser } from "../support/browser.ts";
import { assertUsable, keepPictures } from "../support/page-watch.ts";

const DOMAIN = "staff.example";

let browser: Browser;
let running: TestService;
let upstream: TestService;
let org: TestOrganisation;
let there: TestOrganisation;
let application: Application;
before(async () => {
  browser = await launchBrowser();
  const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1", ...MAIL_ENV };
  running = await startTestService({ databaseUrl: "sqlite::memory:", env });
  upstream = await startTestService({ databaseUrl: "sqlite::memory:" });
  org = await makeOrganisation(running.service);
  there = await makeOrganisation(upstream.service);
  const settings = { redirectUris: [`${running.baseUrl}/landing`] };
  ({ application } = await makeClient(running.service, org.organisation, settings));
  for (const name of ["ada", "grace"]) await make(upstream, there, `${name}@${DOMAIN}`);
  await make(running, org, `admin@${DOMAIN}`, "Administrator");
});
after(async () => {
  await browser.close();
  for (const service of [running, upstream]) {
    assert.deepEqual(service.errors, []);
    await service.close();
  }
});

const make = (
  { service }: TestService,
  { organisation }: TestOrganisation,
  email: string,
  role: "Administrator" | "Standard" = "Standard",
) =>
  createUser(service, {
    ...{ organisation, email, password: PASSWORD, emailVerified: true, role, actor: "test" },
    ...{ firstname: "Ada", surname: "Byron" },
  });

let pictures = 0;

async function look(page: Page, what: string): Promise<void> {
  await assertUsable(page, what);
  await keepPictures(page, `second-signet-${++pictures}`);
}

async function logIn(page: Page, email: string): Promise<void> {
  if ((await page.locator("#email[readonly]").count()) === 0) await page.locator("#email").fill(email);
  if ((await page.locator("#password").count()) === 0) await page.locator("#login-submit").click();
  await page.locator("#password").fill(PASSWORD);
  await page.locator("#login-submit").click();
}

/** At the sign-in page of the application, in a browser that nobody has used. */
async function visit(): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(authorization());
  return page;
}

const authorization = () => {
  const asked = { clientId: application.id, redirectUri: `${running.baseUrl}/landing` };
  return `${org.issuer}/authorize?${requestQuery(org, asked)}`;
};

/** From the second Signet's own pages, once it has been asked for somebody. */
async function logInThere(page: Page, email: string, isFirst: boolean): Promise<void> {
  await page.waitForURL((url) => url.href.startsWith(there.issuer));
  await logIn(page, email);
  if (isFirst) await page.locator("#consent-allow").click();
}

const landed = (page: Page) => page.waitForURL((url) => url.pathname === "/landing");
const accountOf = async (email: string) =>
  (await findUserByEmail(running.service.database.query, org.organisation.id, email))?.user;

let connectionId = "";

test("is connected, tested and enabled by the console alone", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${running.baseUrl}/oauth/manage/${org.organisation.id}/connections/new?type=oidc`);
  await logIn(page, `admin@${DOMAIN}`);
  await page.locator("#setup-steps").waitFor();
  await look(page, "new connection");
  const redirectUri = await page.locator("#redirect-uri").innerText();
  // What its administrator does there.
  const registered = { redirectUris: [redirectUri], allowedScopes: ["openid", "email", "profile"] };
  const client = await makeClient(upstream.service, there.organisation, registered);
  await page.locator("#name").fill("Head office");
  await page.locator("#issuer").fill(there.issuer);
  await page.locator("#clientId").fill(client.application.id);
  await page.locator("#clientSecret").fill("not the secret");
  await page.locator("#connection-create").click();
  await page.locator("#connection-state").waitFor();
  [, connectionId = ""] = /connections\/([0-9a-f-]{36})/.exec(page.url()) ?? [];
  assert.ok(redirectUri.endsWith(`/connections/${connectionId}/callback`), "as it was shown before");
  await look(page, "connection");

  const runTest = async () => {
    await page.goto(`${running.baseUrl}/oauth/manage/${org.organisation.id}/connections/${connectionId}`);
    await page.locator("#to-test").click();
    await page.locator("#connection-test-start").click();
    const opened = context.waitForEvent("page");
    await page.locator("#connection-test-open").click();
    return opened;
  };
  const failing = await runTest();
  await logInThere(failing, `grace@${DOMAIN}`, true);
  await failing.locator("#connection-test-show").waitFor();
  await look(failing, "end of a test that failed");
  await failing.locator("#connection-test-show").click();
  await failing.locator("#connection-test-outcome").waitFor();
  assert.match(await failing.locator("#connection-test-outcome").innerText(), /upstream-error/);
  await look(failing, "result of a test that failed");

  await page.goto(
    `${running.baseUrl}/oauth/manage/${org.organisation.id}/connections/${connectionId}/settings`,
  );
  await page.locator("#clientSecret").fill(client.secret);
  await page.locator("#connection-save").click();
  await page.waitForURL(/done=saved/);
  const good = await runTest();
  await good.locator("#connection-test-show").waitFor();
  // The page that started it has heard of it by itself.
  await page.locator("#connection-test-state.done").waitFor();
  await good.locator("#connection-test-show").click();
  await good.locator("#connection-test-account").waitFor();
  assert.match(await good.locator("#connection-test-mapped").innerText(), new RegExp(`grace@${DOMAIN}`));
  await look(good, "result of a test");
  assert.equal(await accountOf(`grace@${DOMAIN}`), undefined, "a test makes nothing");

  await good.goto(
    `${running.baseUrl}/oauth/manage/${org.organisation.id}/connections/${connectionId}/enable`,
  );
  await good.locator("#enable-confirm").click();
  await good.locator("#connection-state").getByText("Enabled").waitFor();
});

test("the first sign-in makes an account, the second one finds it", async () => {
  await provenDomain(running.service, org.organisation.id, { domain: DOMAIN, connectionId });
  const email = `ada@${DOMAIN}`;
  const first = await visit();
  assert.equal(await first.locator("#password").count(), 0, "of a routed domain the address comes first");
  await first.locator("#email").fill(email);
  await first.locator("#login-submit").click();
  await logInThere(first, email, true);
  await first.locator("#consent-allow").waitFor();
  await look(first, "consent after a first sign-in");
  await first.locator("#consent-allow").click();
  await landed(first);
  const account = await accountOf(email);
  assert.deepEqual([account?.emailVerified, account?.firstname], [true, "Ada"]);
  const second = await visit();
  await second.locator(`#connection-${connectionId}`).click();
  await logInThere(second, email, false);
  await landed(second);
});

test("who had an account links it once, unlinks it and links it again on the account page", async () => {
  const email = `grace@${DOMAIN}`;
  const userId = await make(running, org, email);
  const page = await visit();
  await page.locator(`#connection-${connectionId}`).click();
  await logInThere(page, email, false);
  await page.locator("#link-submit").waitFor();
  await look(page, "link account");
  await page.locator("#link-submit").click();
  await logIn(page, email);
  await page.locator("#consent-allow").click();
  await landed(page);
  const { service } = upstream;
  const subject =
    (await findUserByEmail(service.database.query, there.organisation.id, email))?.user.id ?? "";
  const linked = async () => {
    const key = { orgId: org.organisation.id, connectionId, subject };
    return (await findIdentity(running.service.database.query, key))?.userId;
  };
  assert.equal(await linked(), userId);

  await page.goto(`${org.issuer}/account/security`);
  await page.locator(`#connection-unlink-${connectionId}`).click();
  await page.locator("form button[type=submit].dangerous, form button[type=submit].primary").first().click();
  await page.locator(`#connection-link-${connectionId}`).waitFor();
  assert.equal(await linked(), undefined);
  await look(page, "account page, unlinked");
  await page.locator(`#connection-link-${connectionId}`).click();
  await logInThere(page, email, false);
  await page.locator(`#connection-unlink-${connectionId}`).waitFor();
  assert.equal(await linked(), userId);
});

test("an enforced domain leaves the second Signet alone as the way in", async () => {
  const { service } = running;
  await breakGlass(service, org.organisation);
  const { id } = await service.database.query
    .selectFrom("domain")
    .select("id")
    .where("org_id", "=", org.organisation.id)
    .executeTakeFirstOrThrow();
  await changeDomain(service, {
    ...{ orgId: org.organisation.id, id, actor: "test", change: { enforced: true }, check: async () => {} },
  });
  const page = await visit();
  await page.locator("#email").fill(`grace@${DOMAIN}`);
  await page.locator("#login-submit").click();
  await logInThere(page, `grace@${DOMAIN}`, false);
  await landed(page);
  // The password of before is a wrong one, past the connection too.
  const past = await visit();
  await past.goto(`${org.issuer}/break-glass`);
  await logIn(past, `grace@${DOMAIN}`);
  await past.getByText("Incorrect email or password").waitFor();
  await look(past, "break-glass");
});
