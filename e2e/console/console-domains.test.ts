/** What an administrator does with domains, and somebody without an account who has a portal link, by keyboard alone, in real Chromium (issue 24). */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { generateSync } from "otplib";
import { findDomain } from "../../packages/server/src/core/domains/domains.store.ts";
import { findOrganisation } from "../../packages/server/src/core/organisations/organisations.store.ts";
import { createPortalLink } from "../../packages/server/src/core/portal-links/portal-links.ts";
import { addTotp, newTotpSecret } from "../../packages/server/src/core/second-factors/totp/totp.ts";
import { findUserByEmail } from "../../packages/server/src/core/users/users.store.ts";
import { createUser } from "../../packages/server/src/core/users/users.ts";
import { startHostileProvider } from "../../packages/server/src/testing/fakes/hostile-provider.ts";
import { startNameServer } from "../../packages/server/src/testing/fakes/name-server.ts";
import { PASSWORD } from "../../packages/server/src/testing/test-service.ts";
import { enter, isReady, pick, tick, type } from "../support/hand.ts";
import { doneText, journeys, type Visitor } from "./console-journey.ts";

const names = await startNameServer();
after(() => names.close());
const { fixture, service, visitor, assertAllSent } = journeys({
  env: { SIGNET_OUTBOUND_ALLOW: "127.0.0.1", SIGNET_DNS_SERVERS: names.address },
});

const find = (id: string) => findDomain(service().database.query, { orgId: fixture().orgId, id });
const idIn = (url: string): string => /\/domains\/([0-9a-f-]{36})/.exec(url)?.[1] ?? "";

test("adds a domain, looks its record up, routes it to a provider, and deletes it", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  await visit.open("/domains");
  await visit.look("Domains");
  await enter(page, "domain-new");
  await isReady(page, "domain");
  await type(page, "domain", "localhost");
  await enter(page, "domain-create");
  await page.locator("#domain[aria-invalid=true]").waitFor();
  await type(page, "domain", "bakery.example");
  await enter(page, "domain-create");
  assert.equal(await doneText(page), "Domain added.");
  await visit.look("bakery.example");
  const id = idIn(page.url());

  await enter(page, "domain-verify");
  await enter(page, "domain-verify-confirm");
  await page.locator("#domain-error").waitFor();
  assert.equal((await find(id))?.state, "pending");

  await enter(page, "tab-settings");
  await pick(page, "connectionId", fixture().ids["connections/sign-ins"] ?? "");
  await enter(page, "domain-save");
  assert.equal(await doneText(page), "Saved.");
  assert.ok((await find(id))?.connectionId);

  await enter(page, "tab-settings");
  await enter(page, "domain-delete");
  await enter(page, "domain-delete-confirm");
  assert.equal(await doneText(page), "Domain deleted.");
  assert.equal(await find(id), undefined);
});

test("somebody without an account opens a portal link, connects a provider, and finishes", async (t) => {
  const { baseUrl, orgId } = fixture();
  const wanted = { purposes: ["connections", "domains"] as const, returnUrl: null, scopes: [] };
  const { token } = await createPortalLink(service(), { orgId, actor: "test", wanted });
  const visit = await visitor(t);
  const { page } = visit;
  await page.goto(`${baseUrl}/portal/${token}`);
  await visit.look("Set up sign-in for Northwind Cooperative");
  await enter(page, "portal-open");
  await visit.look("Connection setup");
  await enter(page, "connection-new");
  await enter(page, "type-saml");
  await isReady(page, "name");
  await page.goBack();
  await page.goBack();
  await enter(page, "portal-close");
  await visit.look("The setup has ended");
  await page.goto(`${baseUrl}/portal/${token}`);
  await visit.look("This setup link no longer works");
});

/** @returns the secret of the authenticator app, and the id */
async function newAdministrator(email: string) {
  const { orgId } = fixture();
  const userId = await createUser(service(), {
    ...{ organisation: await organisation(), email, emailVerified: true, password: PASSWORD },
    ...{ firstname: "Rolf", surname: "Berg", role: "Administrator", actor: "operator" },
  });
  const secret = await newTotpSecret();
  const enrolled = { secret, step: 0, now: service().clock() };
  await addTotp(service(), service().database.query, { homeOrgId: orgId, userId }, enrolled);
  return { secret, userId };
}

async function organisation() {
  const found = await findOrganisation(service().database.query, fixture().orgId);
  assert.ok(found);
  return found;
}

/** A new provider of the kind that Keycloak is, by the console alone. @returns its id */
async function connectKeycloak({ open, page }: Visitor, issuer: string): Promise<string> {
  await open("/connections/new");
  await enter(page, "type-keycloak");
  await isReady(page, "name");
  await type(page, "issuer", issuer);
  await type(page, "clientId", "signet");
  await type(page, "clientSecret", "what Keycloak has made");
  await enter(page, "connection-create");
  assert.equal(await doneText(page), "Connection created.");
  const id = /\/connections\/([0-9a-f-]{36})/.exec(page.url())?.[1] ?? "";
  await enter(page, "to-enable");
  await enter(page, "enable-confirm");
  assert.equal(await doneText(page), "Connection enabled.");
  return id;
}

test("connects Keycloak, proves a domain and enforces it: its users are taken to the provider, and break-glass administrators come in past it", async (t) => {
  const there = await startHostileProvider(Date.now);
  t.after(() => there.close());
  const domain = "there.example";
  const { secret, userId } = await newAdministrator(`rolf@${domain}`);
  const nina = { email: `nina@${domain}`, password: PASSWORD };
  await createUser(service(), {
    ...{ organisation: await organisation(), ...nina, emailVerified: true, role: "Standard" },
    ...{ firstname: "Nina", surname: "Falk", actor: "operator" },
  });
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const connection = await connectKeycloak(visit, there.issuer);

  await visit.open("/break-glass");
  await page.getByText("No second factor").waitFor();
  await visit.look("Break-glass access");
  await enter(page, `withdraw-${fixture().admin.id}`);
  await enter(page, "withdraw-confirm");
  assert.equal(await doneText(page), "Break-glass access withdrawn.");

  await visit.open("/domains/new");
  await isReady(page, "domain");
  await type(page, "domain", domain);
  await enter(page, "domain-create");
  const id = idIn(page.url());
  const record = async (part: string) => (await page.locator(`#proof-${part}`).innerText()).trim();
  names.set(await record("name"), { txt: [[await record("value")]] });
  await enter(page, "domain-verify");
  await enter(page, "domain-verify-confirm");
  assert.equal(await doneText(page), "The domain is verified.");
  const enforce = async () => {
    await pick(page, "connectionId", connection);
    await tick(page, "#enforced");
    await enter(page, "domain-save");
  };
  await enter(page, "tab-settings");
  await enforce();
  await page.locator("#enforced[aria-invalid=true]").waitFor();

  await visit.open("/break-glass");
  await enter(page, "break-glass-grant");
  await pick(page, "user", fixture().admin.id);
  await enter(page, "break-glass-save");
  await page.getByText("This administrator has no second factor.").waitFor();
  await visit.look("Add administrator");
  await pick(page, "user", userId);
  await enter(page, "break-glass-save");
  assert.equal(await doneText(page), "Break-glass administrator added.");
  await visit.open(`/domains/${id}/settings`);
  await enforce();
  assert.equal(await doneText(page), "Saved.");
  assert.equal((await find(id))?.enforced, true);
  await enter(page, "tab-activity");
  await page.locator("#activity li").first().waitFor();
  await visit.open("/break-glass");
  await page.locator("#break-glass-few").waitFor();
  await enter(page, `withdraw-${userId}`);
  await enter(page, "withdraw-confirm");
  await page.getByText("Not withdrawn").waitFor();

  const account = `/oauth/${fixture().orgId}/account/security`;
  const somebody = await visitor(t);
  await somebody.open(account);
  await type(somebody.page, "email", `ada@${domain}`);
  await enter(somebody.page, "login-submit");
  await somebody.page.locator("#content").waitFor();
  assert.ok(there.asked.includes("/authorize"), "the provider was asked");
  assert.ok(await findUserByEmail(service().database.query, fixture().orgId, `ada@${domain}`));

  const past = await visitor(t);
  await past.open(`/oauth/${fixture().orgId}/break-glass`);
  const signIn = async (email: string) => {
    await type(past.page, "email", email);
    await type(past.page, "password", PASSWORD);
    await enter(past.page, "login-submit");
  };
  await signIn(nina.email);
  await past.page.getByText("Incorrect email or password").waitFor();
  await signIn(`rolf@${domain}`);
  await isReady(past.page, "code");
  await type(past.page, "code", generateSync({ secret }));
  await enter(past.page, "twofactor-submit");
  await past.page.locator("#content:visible, #nav-overview:visible").first().waitFor();
  // An answer of 401 is the browser's to tell.
  past.watch.reset();
  await visit.open("/break-glass");
  assert.doesNotMatch(await page.locator(`#break-glass-${userId}`).innerText(), /Never/);
});

test("every form of domains and portal links was submitted", () => {
  assertAllSent("domains");
});
