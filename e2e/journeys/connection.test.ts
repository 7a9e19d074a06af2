/** The organisation's own identity provider, in real Chromium: first sign-ins, what fails, and the way past an enforced domain. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { Application } from "../../packages/server/src/core/applications/application.ts";
import { grantBreakGlass } from "../../packages/server/src/core/break-glass/break-glass.ts";
import type { Connection } from "../../packages/server/src/core/connections/connection.ts";
import { changeDomain } from "../../packages/server/src/core/domains/domains.ts";
import { addTotp, newTotpSecret } from "../../packages/server/src/core/second-factors/totp/totp.ts";
import { findUserByEmail } from "../../packages/server/src/core/users/users.store.ts";
import { createUser } from "../../packages/server/src/core/users/users.ts";
import {
  type HostileProvider,
  startHostileProvider,
} from "../../packages/server/src/testing/fakes/hostile-provider.ts";
import { MAIL_ENV, mailsTo } from "../../packages/server/src/testing/fakes/mailbox.ts";
import { provenDomain } from "../../packages/server/src/testing/fixtures/routed-domain.ts";
import { connectTo } from "../../packages/server/src/testing/fixtures/upstream-sign-in.ts";
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
import { assertUsable, keepPictures, type PageWatch, watchPage } from "../support/page-watch.ts";

let browser: Browser;
let running: TestService;
let org: TestOrganisation;
let there: HostileProvider;
let connection: Connection;
let application: Application;
before(async () => {
  browser = await launchBrowser();
  running = await startTestService({
    databaseUrl: "sqlite::memory:",
    env: { SIGNET_OUTBOUND_ALLOW: "127.0.0.1", ...MAIL_ENV },
  });
  org = await makeOrganisation(running.service);
  there = await startHostileProvider(Date.now);
  connection = await connectTo(running, org, there, "Acme Directory");
  const settings = { redirectUris: [`${there.issuer}/landing`] };
  ({ application } = await makeClient(running.service, org.organisation, settings));
});
afterEach(() => there.reset());
after(async () => {
  await browser.close();
  await there.close();
  assert.deepEqual(running.errors, []);
  await running.close();
});

interface Visit {
  readonly page: Page;
  readonly watch: PageWatch;
}

/** At the sign-in page of an application whose own page is played by the provider too. */
async function visit(options: BrowserContextOptions = {}): Promise<Visit> {
  const page = await (await browser.newContext(options)).newPage();
  const watch = await watchPage(page);
  there.answers.set("/landing", { body: "signed in" });
  const asked = { clientId: application.id, redirectUri: `${there.issuer}/landing` };
  await page.goto(`${org.issuer}/authorize?${requestQuery(org, asked)}`);
  return { page, watch };
}

let pictures = 0;

async function look({ page, watch }: Visit, heading: string | RegExp): Promise<void> {
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
  await assertUsable(page, String(heading));
  await keepPictures(page, `connection-${++pictures}`);
  // An answer of 4xx or 5xx is none.
  assert.deepEqual(
    watch.faults.filter((fault) => !fault.startsWith("Failed to load resource")),
    [],
  );
  watch.reset();
}

const codesTo = async (email: string): Promise<string[]> =>
  (await mailsTo(running.service, email)).flatMap(({ mail }) =>
    mail.template === "EmailCode" ? [mail.data.code] : [],
  );

const make = (email: string, more: { readonly role?: "Administrator" } = {}) =>
  createUser(running.service, {
    ...{ organisation: org.organisation, email, password: PASSWORD, emailVerified: true, role: "Standard" },
    ...{ firstname: "Ada", surname: "Byron", actor: "test", ...more },
  });

test("on a phone: the provider's word is not believed, a wrong code is told, the right one makes the account", async () => {
  const email = "ada@there.example";
  there.claims = { email, email_verified: false };
  const on = await visit({ viewport: { width: 390, height: 844 }, colorScheme: "dark" });
  const { page } = on;
  await look(on, /^Sign in/);
  await page.locator(`#connection-${connection.id}`).click();
  await look(on, /^Confirm your email/);
  const [code = ""] = await codesTo(email);
  await page.locator("#email-code").fill(code === "000000" ? "000001" : "000000");
  await page.locator("#email-code-submit").click();
  await page.locator("#email-code-notice").waitFor();
  await look(on, /^Confirm your email/);
  await page.locator("#email-code").fill(`${code.slice(0, 3)} ${code.slice(3)}`);
  await page.locator("#email-code-submit").click();
  await page.locator("#consent-allow").click();
  await page.getByText("signed in").waitFor();
  const found = await findUserByEmail(running.service.database.query, org.organisation.id, email);
  assert.equal(found?.user.firstname, "Ada");
});

test("without an address one is asked for; the account of it is linked once its owner has signed in", async () => {
  const email = "grace@there.example";
  await make(email);
  there.claims = { sub: "grace", email: undefined };
  there.userinfo = { sub: "grace" };
  const on = await visit();
  const { page } = on;
  await page.locator(`#connection-${connection.id}`).click();
  await look(on, /^Confirm your email/);
  await page.locator("#email").fill(email);
  await page.locator("#email-code-send").click();
  await page.locator("#email-code").fill((await codesTo(email)).at(-1) ?? "");
  await page.locator("#email-code-submit").click();
  await page.locator("#link-account").waitFor();
  await look(on, /./);
  await page.locator("#link-submit").click();
  await page.locator("#password").fill(PASSWORD);
  await page.locator("#login-submit").click();
  await page.locator("#consent-allow").click();
  await page.getByText("signed in").waitFor();

  // From now on by the provider alone.
  const again = await visit();
  await again.page.locator(`#connection-${connection.id}`).click();
  await again.page.getByText("signed in").waitFor();
});

test("a provider that answers garbage is named, and there is another way", async () => {
  there.answers.set("/token", { status: 500, body: "<h1>oops</h1>" });
  const on = await visit();
  const { page } = on;
  await page.locator(`#connection-${connection.id}`).click();
  await page.locator("#connection-error").waitFor();
  await look(on, /./);
  assert.match(await page.locator("main").innerText(), /Acme Directory/);
  there.reset();
  await page.locator("#connection-other").click();
  await look(on, /^Sign in/);
});

test("an enforced domain leads to the provider by the address alone; a break-glass administrator comes in past it", async () => {
  const { service } = running;
  const { id: orgId } = org.organisation;
  const email = "boss@enforced.example";
  const userId = await make(email, { role: "Administrator" });
  const secret = await newTotpSecret();
  const owner = { homeOrgId: orgId, userId };
  await addTotp(service, service.database.query, owner, { secret, step: 0, now: Date.now() });
  await grantBreakGlass(service, { orgId, actor: "test", userId });
  const { id } = await provenDomain(service, orgId, {
    domain: "enforced.example",
    connectionId: connection.id,
  });
  await changeDomain(service, {
    ...{ orgId, id, actor: "test", change: { enforced: true }, check: async () => {} },
  });

  there.claims = { sub: "boss", email, email_verified: true };
  const on = await visit();
  const { page } = on;
  await look(on, /^Sign in/);
  assert.equal(await page.locator("#password").count(), 0, "the address comes first");
  await page.locator("#email").fill(email);
  await page.locator("#login-submit").click();
  await page.waitForURL((url) => url.pathname !== "/" && !url.pathname.endsWith("/login"));
  assert.ok(there.asked.includes("/authorize"), "the provider was asked");

  const past = await visit();
  await past.page.goto(past.page.url().replace(/\/login.*|\/authorize.*/, "/break-glass"));
  await look(past, /./);
  await past.page.locator("#email").fill("nobody@enforced.example");
  await past.page.locator("#password").fill(PASSWORD);
  await past.page.locator("#login-submit").click();
  await look(past, /./);
  assert.match(await past.page.locator("main").innerText(), /Incorrect email or password/);
  await past.page.locator("#email").fill(email);
  await past.page.locator("#password").fill(PASSWORD);
  await past.page.locator("#login-submit").click();
  await past.page.locator("#code").waitFor();
  await look(past, /./);
});
