/** What an administrator does with resources and with what gets tokens without a secret, by keyboard alone, in real Chromium (issue 26). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { findDetailType } from "../../packages/server/src/core/authorization-details/detail-types.store.ts";
import { findClientAuthority } from "../../packages/server/src/core/client-authorities/client-authorities.store.ts";
import { exampleCertificate } from "../../packages/server/src/core/client-authorities/example-certificate.ts";
import { findClientPolicy } from "../../packages/server/src/core/client-metadata/client-policy.store.ts";
import { findInitialAccessToken } from "../../packages/server/src/core/client-registration/initial-access-tokens.store.ts";
import { findResourceWithScopes } from "../../packages/server/src/core/protected-resources/protected-resources.ts";
import { findPolicy } from "../../packages/server/src/core/token-exchange/exchange-policies.store.ts";
import { findTrust } from "../../packages/server/src/core/trusts/trusts.store.ts";
import { enter, isReady, pick, tick, type } from "../support/hand.ts";
import { doneText, journeys } from "./console-journey.ts";

const { fixture, service, visitor, assertAllSent } = journeys();

const idIn = (url: string): string =>
  /\/([0-9a-f-]{36})(?:[/?]|$)/.exec(new URL(url).pathname.replace(fixture().orgId, ""))?.[1] ?? "";
const key = (id: string) => ({ orgId: fixture().orgId, id });

test("adds a resource, gives it a scope, constrains its tokens, and deletes it", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const find = (id: string) => findResourceWithScopes(service().database.query, key(id));
  await visit.open("/resources");
  await visit.look("Resources");
  await enter(page, "resource-new");
  await isReady(page, "name");
  await type(page, "name", "Warehouse API");
  await type(page, "identifier", "https://warehouse.example/#part");
  await enter(page, "resource-create");
  await page.locator("#identifier[aria-invalid=true]").waitFor();
  await type(page, "identifier", "https://warehouse.example/api");
  await enter(page, "resource-create");
  assert.equal(await doneText(page), "Resource added.");
  await visit.look("Warehouse API");
  const id = idIn(page.url());

  await enter(page, "tab-settings");
  await pick(page, "senderConstraint", "dpop");
  await type(page, "accessTokenLifetimeSeconds", "5");
  await tick(page, "scopes-payslips");
  await enter(page, "resource-save");
  assert.equal(await doneText(page), "Saved.");
  const saved = await find(id);
  assert.deepEqual(
    [saved?.senderConstraint, saved?.accessTokenLifetimeSeconds, saved?.scopes.map(({ name }) => name)],
    ["dpop", 300, ["payslips"]],
  );
  await enter(page, "tab-activity");
  await page.locator("#activity").waitFor();

  await visit.open(`/scopes/${fixture().ids["scopes"]}`);
  await page.locator("#scope-resource").waitFor();
  await enter(page, "scope-edit");
  await pick(page, "resourceId", "");
  await enter(page, "scope-save");
  assert.equal(await doneText(page), "Scope saved.");
  assert.deepEqual((await find(id))?.scopes, []);

  await visit.open(`/resources/${id}/settings`);
  await enter(page, "resource-delete");
  await enter(page, "resource-delete-confirm");
  assert.equal(await doneText(page), "Resource deleted.");
  assert.equal(await find(id), undefined);
});

test("trusts a pipeline by its preset, is refused a pattern that matches everything, and deletes the trust", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const find = (id: string) => findTrust(service().database.query, key(id));
  await visit.open("/trusts/new");
  await visit.look("Add trusted issuer");
  await enter(page, "sort-github");
  assert.equal(await page.locator("#issuer").inputValue(), "https://token.actions.githubusercontent.com");
  await pick(page, "clientId", fixture().ids["applications"] ?? "");
  await type(page, "subjectPattern", "repo:northwind/*");
  await enter(page, "trust-create");
  assert.match(await page.locator("#subjectPattern-fault").innerText(), /would match subjects of others too/);
  await type(page, "subjectPattern", "repo:northwind/shop:ref:refs/heads/*");
  await enter(page, "trust-create");
  assert.equal(await doneText(page), "Trust added.");
  await visit.look("repo:northwind/shop:ref:refs/heads/*");
  const id = idIn(page.url());
  assert.deepEqual((await find(id))?.claims, { ref_protected: "true" });

  await enter(page, "tab-settings");
  await tick(page, "enabled", false);
  await enter(page, "trust-save");
  assert.equal(await doneText(page), "Saved.");
  assert.equal((await find(id))?.enabled, false);

  await enter(page, "tab-settings");
  await enter(page, "trust-delete");
  await enter(page, "trust-delete-confirm");
  assert.equal(await doneText(page), "Trust deleted.");
  assert.equal(await find(id), undefined);
});

test("adds a token exchange policy, and one of identity assertions, changes it, and deletes it", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const find = (id: string) => findPolicy(service().database.query, key(id));
  await visit.open("/token-exchange/new");
  await enter(page, "sort-access_token");
  await isReady(page, "name");
  await type(page, "name", "Orders bills");
  await pick(page, "clientId", fixture().ids["applications"] ?? "");
  await type(page, "target", "https://billing.northwind.example/api");
  await enter(page, "policy-create");
  await page.locator("#scopes-fault").waitFor();
  await tick(page, "scopes-payslips");
  await enter(page, "policy-create");
  assert.equal(await doneText(page), "Policy added.");
  await visit.look("Orders bills");
  const id = idIn(page.url());
  assert.deepEqual((await find(id))?.scopes, ["payslips"]);
  await enter(page, "tab-settings");
  await tick(page, "impersonation");
  await enter(page, "policy-save");
  assert.equal(await doneText(page), "Saved.");
  assert.equal((await find(id))?.impersonation, true);

  await visit.open("/token-exchange/new?sort=id_jag");
  await type(page, "name", "Wiki elsewhere");
  await pick(page, "clientId", fixture().ids["applications"] ?? "");
  await type(page, "target", "https://wiki.example");
  await type(page, "scopes", "wiki.read");
  await enter(page, "policy-create");
  assert.equal(await doneText(page), "Policy added.");
  assert.equal((await find(idIn(page.url())))?.requestedTokenType, "id_jag");

  await visit.open(`/token-exchange/${id}/settings`);
  await enter(page, "policy-delete");
  await enter(page, "policy-delete-confirm");
  assert.equal(await doneText(page), "Policy deleted.");
  assert.equal(await find(id), undefined);
});

test("says which clients are taken that nobody registered", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  await visit.open("/client-policy");
  await visit.look("Unregistered clients");
  await type(page, "hosts", "https://agent.example/");
  await enter(page, "client-policy-save");
  await page.locator("#hosts-fault").waitFor();
  await type(page, "hosts", "agent.example");
  await enter(page, "client-policy-save");
  assert.equal(await doneText(page), "Saved.");
  const { mode, hosts } = await findClientPolicy(service().database.query, fixture().orgId);
  assert.deepEqual([mode, hosts], ["allowlist", ["agent.example"]]);
});

test("adds a certificate authority, is refused a certificate that is none, disables and deletes it", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const find = (id: string) => findClientAuthority(service().database.query, key(id));
  await visit.open(`/client-authorities/${fixture().ids["client-authorities"]}`);
  await enter(page, "tab-settings");
  await enter(page, "authority-delete");
  await enter(page, "authority-delete-confirm");
  assert.equal(await doneText(page), "Authority deleted.");
  await visit.open("/client-authorities/new");
  await isReady(page, "name");
  await type(page, "name", "Bank CA");
  await type(page, "certificate", "no certificate");
  await enter(page, "authority-create");
  await page.locator("#certificate-fault").waitFor();
  await page.locator("#certificate").fill(exampleCertificate);
  await enter(page, "authority-create");
  assert.equal(await doneText(page), "Authority added.");
  await visit.look("Bank CA");
  const id = idIn(page.url());
  await enter(page, "tab-settings");
  await tick(page, "enabled", false);
  await enter(page, "authority-save");
  assert.equal(await doneText(page), "Saved.");
  assert.equal((await find(id))?.enabled, false);
});

test("adds a type of authorization details, is refused a schema that isn’t one, changes it, and deletes it", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const find = (id: string) => findDetailType(service().database.query, fixture().orgId, id);
  await visit.open("/authorization-detail-types/new");
  await isReady(page, "type");
  await type(page, "type", "document_access");
  await type(page, "displayName", "Documents");
  await type(page, "template", "Read {folder}");
  await page.locator("#schema").fill('{"type": "object", "propertys": {}}');
  await enter(page, "detail-type-create");
  assert.match(await page.locator("#schema-fault").innerText(), /propertys/);
  await page.locator("#schema").fill('{"type": "object", "required": ["folder"]}');
  await enter(page, "detail-type-create");
  assert.equal(await doneText(page), "Detail type added.");
  await visit.look("Documents");
  const id = idIn(page.url());

  await enter(page, "tab-settings");
  assert.equal(await page.locator("#type").getAttribute("readonly"), "");
  await type(page, "template", "Read all of {folder}");
  await enter(page, "detail-type-save");
  assert.equal(await doneText(page), "Saved.");
  const saved = await find(id);
  assert.deepEqual([saved?.type, saved?.template], ["document_access", "Read all of {folder}"]);

  await enter(page, "tab-settings");
  await enter(page, "detail-type-delete");
  await enter(page, "detail-type-delete-confirm");
  assert.equal(await doneText(page), "Detail type deleted.");
  assert.equal(await find(id), undefined);
});

test("creates an initial access token, which is shown once and registers a client, and revokes it", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const find = (id: string) => findInitialAccessToken(service().database.query, key(id));
  await visit.open("/initial-access-tokens/new");
  await isReady(page, "label");
  await type(page, "label", "Desktop agents");
  await type(page, "maxUses", "0");
  await enter(page, "token-create");
  await page.locator("#maxUses-fault").waitFor();
  await type(page, "maxUses", "2");
  await enter(page, "token-create");
  const token = await page.locator("#initial-access-token").textContent();
  const endpoint = await page.locator("#registration-endpoint").innerText();
  await visit.look("New initial access token");
  const registered = await fetch(endpoint, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ client_name: "Agent", redirect_uris: ["http://127.0.0.1/callback"] }),
  });
  assert.equal(registered.status, 201, await registered.text());
  await enter(page, "once-done");
  await page.locator("#token-details").waitFor();
  assert.match(await page.locator("#token-details").innerText(), /1 of 2/);
  const id = idIn(page.url());

  await enter(page, "tab-settings");
  await tick(page, "enabled", false);
  await enter(page, "token-save");
  assert.equal(await doneText(page), "Saved.");
  assert.equal((await find(id))?.enabled, false);
  await enter(page, "tab-settings");
  await enter(page, "token-delete");
  await enter(page, "token-delete-confirm");
  assert.equal(await doneText(page), "Token revoked.");
  assert.equal(await find(id), undefined);
});

test("every form of resources, trusts and policies was submitted", () => {
  assertAllSent("agents");
});
