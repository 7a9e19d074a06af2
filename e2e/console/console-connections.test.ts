/** What an administrator does with directories and identity providers, by keyboard alone, in real Chromium (issue 22). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { findConnection, listTokens } from "../../packages/server/src/core/connections/connections.store.ts";
import { idpMetadata, newSamlKey } from "../../packages/server/src/testing/fakes/hostile-saml-provider.ts";
import { callScim } from "../../packages/server/src/testing/fixtures/scim-connection.ts";
import { choose, enter, hasScripts, isReady, type } from "../support/hand.ts";
import { confirmByName, doneText, journeys } from "./console-journey.ts";

const { fixture, service, visitor, assertAllSent } = journeys();

const find = (id: string) => findConnection(service().database.query, { orgId: fixture().orgId, id });
const idIn = (url: string): string => /\/connections\/([0-9a-f-]{36})/.exec(url)?.[1] ?? "";

test("connects a directory, hands it a token, reads its calls, revokes the token, and deletes the connection", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  await visit.open("/connections");
  await enter(page, "connection-new");
  await enter(page, "type-scim");
  await isReady(page, "name");
  await enter(page, "connection-create");
  await page.locator("#name[aria-invalid=true]").waitFor();
  await visit.look("SCIM directory");
  await type(page, "name", "Okta");
  await choose(page, "deletionPolicy", "delete");
  await enter(page, "connection-create");
  assert.equal(await doneText(page), "Connection created.");
  const id = idIn(page.url());
  assert.equal((await find(id))?.deletionPolicy, "delete");

  await enter(page, "token-add");
  await type(page, "label", "First");
  await enter(page, "token-create");
  await visit.look("Token for Okta");
  const token = await page.locator("#scim-token").innerText();
  const url = await page.locator("#scim-url").innerText();
  await enter(page, "once-done");
  const user = await callScim("POST", `${url}/Users`, { token, body: { userName: "ole@northwind.example" } });
  assert.equal(user.status, 201);
  await callScim("POST", `${url}/Users`, { token, body: { userName: "ole@northwind.example" } });
  await enter(page, "tab-calls");
  await page.getByText("uniqueness").waitFor();
  await enter(page, "log-failed");
  assert.equal(await page.locator("#log tbody tr").count(), 1);
  await enter(page, "log-all");
  assert.equal(await page.locator("#log tbody tr").count(), 2);

  await enter(page, "tab-tokens");
  const [kept] = await listTokens(service().database.query, { orgId: fixture().orgId, id });
  await enter(page, `token-end-${kept?.id}`);
  await enter(page, "token-end-confirm");
  assert.equal(await doneText(page), "Token revoked.");
  assert.equal((await callScim("GET", `${url}/Users`, { token })).status, 401);

  await enter(page, "tab-settings");
  await type(page, "name", "Okta of the house");
  await enter(page, "connection-save");
  assert.equal(await doneText(page), "Changes saved.");
  await enter(page, "connection-delete");
  await page.getByText("1 user becomes").waitFor();
  const named = { button: "connection-delete-confirm", name: "Okta of the house" };
  await confirmByName(page, named, () => find(id));
  assert.equal(await doneText(page), "Connection deleted.");
  assert.equal(await find(id), undefined);
});

test("connects a provider, registers its redirect URI, enables and disables it, and changes how accounts are linked", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  await visit.open("/connections");
  await enter(page, "connection-new");
  await enter(page, "type-keycloak");
  await isReady(page, "name");
  await type(page, "issuer", "keycloak");
  await type(page, "clientId", "signet");
  await enter(page, "connection-create");
  await page.locator("#issuer[aria-invalid=true]").waitFor();
  await visit.look("Keycloak");
  await type(page, "issuer", "https://keycloak.northwind.example/realms/staff");
  await type(page, "clientSecret", "what Keycloak has made");
  await enter(page, "connection-create");
  assert.equal(await doneText(page), "Connection created.");
  const id = idIn(page.url());
  await visit.look("Keycloak");
  assert.match(await page.locator("#redirect-uri").innerText(), new RegExp(`/connections/${id}/callback$`));
  await enter(page, "to-enable");
  await enter(page, "enable-confirm");
  assert.equal(await doneText(page), "Connection enabled.");
  assert.equal((await find(id))?.enabled, true);

  await page.locator("#connection-save").waitFor();
  await choose(page, "linking", "never");
  await type(page, "mapping", "username upn");
  await enter(page, "connection-save");
  await page.locator("#mapping[aria-invalid=true]").waitFor();
  await visit.look("Keycloak");
  await type(page, "mapping", "username = upn");
  await enter(page, "connection-save");
  assert.equal(await doneText(page), "Changes saved.");
  const settings = (await find(id))?.settings;
  assert.deepEqual([settings?.linking, settings?.mapping], ["never", { username: "upn" }]);
  await enter(page, "connection-disable");
  await enter(page, "disable-confirm");
  assert.equal(await doneText(page), "Connection disabled.");
  assert.equal((await find(id))?.enabled, false);

  await enter(page, "tab-general");
  await enter(page, "to-groups");
  await type(page, "from", "groups");
  await type(page, "map", "bakers = Nobody");
  await enter(page, "group-mapping-save");
  await page.locator("#map[aria-invalid=true]").waitFor();
  await visit.look("Group mapping");
  await type(page, "map", "bakers = Bakery");
  await enter(page, "group-mapping-save");
  assert.equal(await doneText(page), "Group mapping saved.");
  assert.deepEqual((await find(id))?.settings?.groups?.from, "groups");
  await visit.look("Keycloak");

  await enter(page, "to-test");
  await visit.look("Test sign-in");
  await enter(page, "connection-test-start");
  await page.locator("#connection-test-link").waitFor();
  await visit.look("Test sign-in");
  await enter(page, "connection-test-result");
  await visit.look("Test result");
});

test("connects a SAML provider with its metadata file, and replaces what is typed of it", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const [first, second] = [newSamlKey(), newSamlKey()];
  /** Without scripts it is pasted. */
  const give = async (xml: string) => {
    if (!hasScripts) return page.locator("#metadataXml").fill(xml);
    const file = { name: "metadata.xml", mimeType: "application/samlmetadata+xml" };
    await page.locator("#metadata-file").setInputFiles({ ...file, buffer: Buffer.from(xml) });
    return page.getByText("metadata.xml read.").waitFor();
  };
  await visit.open("/connections");
  await enter(page, "connection-new");
  await enter(page, "type-saml");
  await isReady(page, "name");
  await type(page, "name", "Shibboleth");
  await visit.look("SAML 2.0");
  const acs = await page.locator("#acs-uri").innerText();
  await give("<EntityDescriptor>");
  await enter(page, "connection-create");
  await page.locator("#metadataXml[aria-invalid=true]").waitFor();
  await visit.look("SAML 2.0");
  await give(idpMetadata([first.certificate]));
  await enter(page, "connection-create");
  assert.equal(await doneText(page), "Connection created.");
  const id = idIn(page.url());
  assert.equal(await page.locator("#acs-uri").innerText(), acs);
  assert.match(acs, new RegExp(`/connections/${id}/saml/acs$`));

  await enter(page, "tab-settings");
  await page.locator("#connection-save").waitFor();
  await type(page, "certificates", second.certificate);
  await type(page, "ssoUrl", "ftp://idp.example");
  await enter(page, "connection-save");
  await page.locator("#ssoUrl[aria-invalid=true]").waitFor();
  await visit.look("Shibboleth");
  await type(page, "ssoUrl", "https://idp.example/new");
  await enter(page, "connection-save");
  assert.equal(await doneText(page), "Changes saved.");
  const saml = (await find(id))?.settings?.saml;
  assert.deepEqual([saml?.ssoUrl, saml?.certificates], ["https://idp.example/new", [second.certificate]]);
});

test("reads why a sign-in at a provider failed", async (t) => {
  const visit = await visitor(t, fixture().admin);
  await visit.open(`/connections/${fixture().ids["connections/sign-ins"]}/sign-ins`);
  await visit.look(/^Nowhere/);
  const row = visit.page.locator("#log tbody tr");
  assert.match(await row.innerText(), /audience-mismatch/);
  await enter(visit.page, "log-failed");
  assert.equal(await row.count(), 1);
});

test("every form of connections was submitted", () => {
  assertAllSent("connections");
});
