/** What an administrator does with webhooks, by keyboard alone, in real Chromium (issue 24). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { deliverTarget } from "../../packages/server/src/core/event-deliveries/deliver.ts";
import { listDueTargets } from "../../packages/server/src/core/event-deliveries/targets.store.ts";
import { findWebhook } from "../../packages/server/src/core/webhooks/webhooks.store.ts";
import { eventTargetKinds } from "../../packages/server/src/modules/event-targets.ts";
import { startEventReceiver } from "../../packages/server/src/testing/fakes/event-receiver.ts";
import { choose, enter, hasScripts, isReady, press, tick, type } from "../support/hand.ts";
import { doneText, journeys } from "./console-journey.ts";

const { fixture, service, visitor, assertAllSent } = journeys({
  env: { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" },
});

const find = (id: string) => findWebhook(service().database.query, { orgId: fixture().orgId, id });
const idIn = (url: string): string => /\/webhooks\/([0-9a-f-]{36})/.exec(url)?.[1] ?? "";

/** What the service does by itself a moment later. */
async function deliver(id: string): Promise<void> {
  const kinds = { kinds: eventTargetKinds(service()) };
  const search = { now: service().clock(), limit: 100, full: [], kinds: ["webhook"] };
  for (const target of await listDueTargets(service().database.query, search))
    if (target.id === id) await deliverTarget({ ...service(), ...kinds }, target);
}

test("creates a webhook, sends a test, reads what came of it, retries, rotates the secret, pauses and deletes", async (t) => {
  const receiver = await startEventReceiver();
  t.after(() => receiver.close());
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  await visit.open("/webhooks");
  await visit.look("Webhooks");
  await enter(page, "webhook-new");
  await isReady(page, "url");
  await type(page, "url", "ftp://nowhere.example");
  await choose(page, "which", "some");
  await enter(page, "webhook-create");
  await page.locator("#url[aria-invalid=true]").waitFor();
  await type(page, "url", receiver.url);
  await enter(page, "webhook-create");
  await page.getByText("Choose at least one event.").waitFor();
  await visit.look("New webhook");
  if (hasScripts) {
    await type(page, "events-search", "user.created");
    await page.locator("#events-user\\.created").waitFor();
  } else await press(page, "events-group-users");
  await tick(page, '[id="events-user.created"]');
  await enter(page, "webhook-create");
  await visit.look(/^Signing secret for 127\.0\.0\.1/);
  const first = await page.locator("#webhook-secret").innerText();
  await enter(page, "once-done");
  const id = idIn(page.url());
  assert.deepEqual((await find(id))?.events, ["user.created"]);
  await visit.look(/^127\.0\.0\.1/);

  await enter(page, "webhook-test");
  await enter(page, "webhook-test-confirm");
  assert.match(await doneText(page), /^Test queued/);
  receiver.answer = 410;
  await deliver(id);
  await page.reload();
  assert.equal(await page.locator("#delivery-state").innerText(), "Failed");
  assert.match(await page.locator("#delivery-response").innerText(), /410/);
  assert.match(await page.locator("#delivery-payload").innerText(), /"type": "webhook\.test"/);
  await visit.look("Test message");

  receiver.answer = 204;
  await visit.open(`/webhooks/${id}`);
  await page.locator("#webhook-paused").waitFor();
  await enter(page, "to-enable");
  await enter(page, "enable-confirm");
  assert.equal(await doneText(page), "Webhook resumed.");
  await enter(page, "tab-deliveries");
  await enter(page, "state-dead");
  await visit.look(/^127\.0/);
  await enter(page, "retry-failed");
  await enter(page, "retry-failed-confirm");
  assert.equal(await doneText(page), "Queued to be sent again.");
  await deliver(id);
  await enter(page, "state-delivered");
  const delivery = page.locator('[id^="delivery-"] .item-name');
  await delivery.waitFor();
  const address = (await delivery.getAttribute("href")) ?? "";
  await visit.open(address);
  await enter(page, "delivery-retry");
  await enter(page, "retry-confirm");
  assert.equal(await doneText(page), "Queued to be sent again.");
  await deliver(id);
  const ids = receiver.ids();
  assert.deepEqual([ids.length, new Set(ids).size], [3, 1], "one event, three times");

  await visit.open(`/webhooks/${id}`);
  await enter(page, "tab-secret");
  await page.getByText("No other secret is in use").waitFor();
  await enter(page, "secret-rotate");
  await choose(page, "overlap", "3600");
  await visit.look("Rotate secret");
  await enter(page, "secret-rotate-confirm");
  await visit.at(/^Signing secret for/);
  assert.notEqual(await page.locator("#webhook-secret").innerText(), first);
  await enter(page, "once-done");
  await enter(page, "tab-secret");
  assert.doesNotMatch(await page.locator("#previous-secret").innerText(), /No other/);

  await enter(page, "tab-settings");
  await choose(page, "which", "all");
  await enter(page, "webhook-save");
  assert.equal(await doneText(page), "Webhook saved.");
  assert.deepEqual((await find(id))?.events, ["*"]);
  await enter(page, "webhook-disable");
  await enter(page, "disable-confirm");
  assert.equal(await doneText(page), "Webhook paused.");
  await enter(page, "tab-activity");
  await page.locator("#activity li").first().waitFor();
  await enter(page, "tab-settings");
  await enter(page, "webhook-delete");
  await enter(page, "webhook-delete-confirm");
  assert.equal(await doneText(page), "Webhook deleted.");
  assert.equal(await find(id), undefined);
});

test("every form of webhooks was submitted", () => {
  assertAllSent("webhooks");
});
