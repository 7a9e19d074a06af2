/** What an administrator does with domains, and somebody without an account who has a portal link, by keyboard alone, in real Chromium (issue 24). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { findDomain } from "../../packages/server/src/core/domains/domains.store.ts";
import { createPortalLink } from "../../packages/server/src/core/portal-links/portal-links.ts";
import { enter, isReady, pick, type } from "../support/hand.ts";
import { doneText, journeys } from "./console-journey.ts";

const { fixture, service, visitor, assertAllSent } = journeys();

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

test("every form of domains and portal links was submitted", () => {
  assertAllSent("domains");
});
