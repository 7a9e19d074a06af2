/** What an administrator does with the pools that sign for applications, in real Chromium (issue 8, point 6). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { findAgentKey } from "../../packages/server/src/core/signing-pools/agent-key.store.ts";
import { agentKeyState } from "../../packages/server/src/core/signing-pools/agent-key.ts";
import { findAgent } from "../../packages/server/src/core/signing-pools/signing-agent.store.ts";
import { findPool } from "../../packages/server/src/core/signing-pools/signing-pool.store.ts";
import { newAgentKey, presentedKey } from "../../packages/server/src/testing/fixtures/agent.ts";
import { enter, hasScripts, isReady, tick, type } from "../support/hand.ts";
import { confirmByName, doneText, journeys } from "./console-journey.ts";

const { fixture, service, visitor, assertAllSent } = journeys();

const db = () => service().database.query;

test("creates a pool, registers and deactivates an agent, and deletes the pool", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const { orgId } = fixture();
  await visit.open("/pools");
  await enter(page, "pool-new");
  await type(page, "name", "Branch office");
  await tick(page, "algs-ES256", false);
  await enter(page, "pool-save");
  await page.locator("#algs :focus").waitFor();
  assert.equal(await page.locator("#name").inputValue(), "Branch office");
  await visit.at("New signing pool");
  await tick(page, "algs-ES256");
  await enter(page, "pool-save");
  const poolId = new URL(page.url()).pathname.split("/pools/")[1]?.split("/")[0] ?? "";
  const pool = await findPool(db(), orgId, poolId);
  assert.ok(pool);
  await enter(page, "agent-new");
  await type(page, "name", "Rack 2");
  await type(page, "registration", "a".repeat(150));
  await enter(page, "register-review");
  await isReady(page, "registration");
  const key = newAgentKey("ES256");
  await type(page, "registration", JSON.stringify({ poolId, keys: [presentedKey(service(), pool, key)] }));
  await enter(page, "register-review");
  assert.equal(await page.locator(`[id="key-${key.kid}"]`).count(), 1, "its thumbprint is compared");
  await enter(page, "register-approve");
  await visit.at("Rack 2 is registered");
  const apiKey = await page.locator("#api-key").innerText();
  await enter(page, "once-done");
  assert.ok(!(await page.content()).includes(apiKey), "shown once");
  const link = page.locator("a.item-name", { hasText: "Rack 2" });
  const agentId = (await link.getAttribute("href"))?.split("/").at(-1) ?? "";
  assert.equal((await findAgent(db(), orgId, agentId))?.name, "Rack 2");

  await enter(page, "tab-overview");
  await page.locator(".live-line", { hasText: "0 of 1" }).waitFor();
  const queue = `${fixture().baseUrl}/oauth/${orgId}/sovereign/agent/queue`;
  const ask = async () => (await fetch(queue, { headers: { authorization: `Bearer ${apiKey}` } })).status;
  assert.equal(await ask(), 200);
  // With scripts, the page says so by itself.
  if (!hasScripts) await page.reload();
  await page.locator(".live-line", { hasText: "1 of 1" }).waitFor();
  await enter(page, "tab-agents");
  await page.locator(`#agent-${agentId}`, { hasText: "Online" }).waitFor();

  await enter(page, `#agent-${agentId} a`);
  await enter(page, "agent-deactivate");
  await enter(page, "agent-deactivate-confirm");
  assert.equal(await doneText(page), "Agent deactivated.");
  assert.equal(await ask(), 401);
  await visit.open(`/pools/${poolId}`);
  await enter(page, "tab-settings");
  await enter(page, "pool-delete");
  const confirmation = { button: "pool-delete-confirm", name: "Branch office" };
  await confirmByName(page, confirmation, () => findPool(db(), orgId, poolId));
  assert.equal(await doneText(page), "Pool deleted.");
  assert.equal(await findPool(db(), orgId, poolId), undefined);
});

test("changes a pool's settings, disables and enables it", async (t) => {
  const { page, open } = await visitor(t, fixture().admin);
  const { orgId, ids } = fixture();
  const poolId = ids["pool"] ?? "";
  const now = () => findPool(db(), orgId, poolId);
  await open(`/pools/${poolId}`);
  await enter(page, "tab-settings");
  await type(page, "name", "Headquarters");
  await type(page, "tokenWaitSeconds", "0");
  await enter(page, "pool-save");
  await isReady(page, "tokenWaitSeconds");
  assert.equal(await page.locator("#name").inputValue(), "Headquarters", "what was typed is kept");
  await type(page, "tokenWaitSeconds", "7");
  await enter(page, "pool-save");
  assert.equal(await doneText(page), "Changes saved.");
  const saved = await now();
  assert.deepEqual([saved?.name, saved?.tokenWaitSeconds], ["Headquarters", 7]);
  await enter(page, "pool-disable");
  await enter(page, "pool-disable-confirm");
  assert.equal(await doneText(page), "Pool disabled.");
  assert.notEqual((await now())?.disabledAt, null);
  assert.equal(await page.locator("#agent-new").count(), 0);
  await enter(page, "pool-enable");
  await enter(page, "pool-enable-confirm");
  assert.equal(await doneText(page), "Pool enabled.");
  assert.equal((await now())?.disabledAt, null);
});

test("adds, publishes and retires an agent's key, and removes the keys of a compromised agent", async (t) => {
  const { page, open } = await visitor(t, fixture().admin);
  const { baseUrl, orgId, ids } = fixture();
  const pool = await findPool(db(), orgId, ids["pool"] ?? "");
  assert.ok(pool);
  const published = async () => {
    const answer = await fetch(`${baseUrl}/oauth/${orgId}/sovereign/pools/${pool.id}/jwks.json`);
    const { keys } = (await answer.json()) as { keys: Array<{ kid: string }> };
    return keys.map(({ kid }) => kid);
  };
  const key = newAgentKey("ES256");
  await open(`/pools/${pool.id}/agents/${ids["agent"]}`);
  await enter(page, "agent-keys");
  await type(page, "registration", JSON.stringify({ keys: [presentedKey(service(), pool, key)] }));
  await enter(page, "register-review");
  assert.equal(await page.locator(`[id="key-${key.kid}"]`).count(), 1, "its thumbprint is compared");
  await enter(page, "register-approve");
  assert.equal(await doneText(page), "Keys registered.");
  assert.ok((await published()).includes(key.kid));

  await enter(page, `retire-${key.kid}`);
  await enter(page, "key-retire-confirm");
  assert.equal(await doneText(page), "Key retired.");
  const retired = await findAgentKey(db(), orgId, key.kid);
  assert.ok(retired);
  assert.equal(agentKeyState(retired, Date.now()), "retiring");
  assert.equal(await page.locator(`[id="retire-${key.kid}"]`).count(), 0);
  assert.ok((await published()).includes(key.kid), "as long as its tokens live");

  await enter(page, "agent-compromise");
  const isThere = async () => (await published()).length > 0;
  await confirmByName(page, { button: "agent-compromise-confirm", name: "Agent" }, isThere);
  assert.equal(await doneText(page), "Agent deactivated and its keys removed from the JWKS.");
  assert.deepEqual(await published(), []);
});

test("every form of signing pools was submitted", () => {
  assertAllSent("pools");
});
