// Webhooks from the act to the receiver: order, retries, signatures, several nodes, nodes that die (connections.md §8).
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { newUuid } from "@signet/protocol/uuid";
import { eventTargetKinds } from "../../modules/event-targets.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { type EventReceiver, startEventReceiver } from "../../testing/fakes/event-receiver.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { type AuditEvent, listAuditEvents, recordAuditEvent } from "../audit/audit.store.ts";
import { startAuditChain } from "../audit/chain/background.ts";
import { chainOrganisation } from "../audit/chain/chaining.ts";
import { deliverTarget, RETRY_DELAYS_MS } from "../event-deliveries/deliver.ts";
import { findDelivery, recordAttempt } from "../event-deliveries/deliveries.store.ts";
import { feedOrganisation } from "../event-deliveries/feed.ts";
import { claimTarget, listDueTargets } from "../event-deliveries/targets.store.ts";
import { startEventWorker } from "../event-deliveries/worker.ts";
import { setOrganisationStatus } from "../organisations/organisations.ts";
import { replayEvents, resendDelivery, retryFailed, sendTest } from "./replay.ts";
import { InvalidWebhook } from "./webhook.ts";
import { findWebhook } from "./webhooks.store.ts";
import { changeWebhook, createWebhook, deleteWebhook, rotateWebhookSecret } from "./webhooks.ts";

const SECOND = 1_000;
const ENV = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };

forEachDatabase(({ name, fresh }) => {
  let databaseUrl: string;
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let receiver: EventReceiver;
  before(async () => {
    clock = fakeClock();
    databaseUrl = await fresh();
    running = await startTestService({ databaseUrl, clock, env: ENV });
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });
  beforeEach(async () => {
    org = await makeOrganisation(running.service);
    receiver = await startEventReceiver();
  });
  afterEach(() => receiver.close());

  const orgId = () => org.organisation.id;
  const act = () => ({ orgId: orgId(), actor: "user:u1" });
  const deps = (node = running) => ({ ...node.service, kinds: eventTargetKinds(node.service) });
  const create = async (events: readonly string[] = ["scope.*"], url = receiver.url) => {
    await catchUp();
    return createWebhook(running.service, { ...act(), settings: { url, events, enabled: true } });
  };
  const happen = async (target: string, more: Partial<AuditEvent> = {}) => {
    const { query } = running.service.database;
    const event = { action: "scope.created" as const, target, details: { name: "read" } };
    await recordAuditEvent(query, { ...act(), at: clock(), ...event, ...more });
    const [newest] = await listAuditEvents(query, orgId(), 1);
    return String(newest?.id);
  };
  const catchUp = async (node = running) => {
    await chainOrganisation({ ...node.service, key: node.service.chainKey }, orgId());
    await feedOrganisation(deps(node), orgId());
  };
  const due = async (node = running) => {
    const search = { now: clock(), limit: 100, full: [], kinds: ["webhook"] };
    const found = await listDueTargets(node.service.database.query, search);
    return found.filter((target) => target.orgId === orgId());
  };
  const deliver = async (node = running) => {
    let made = 0;
    for (const target of await due(node)) made += await deliverTarget(deps(node), target);
    return made;
  };
  const settle = async () => {
    await catchUp();
    return deliver();
  };
  const read = (targetId: string, id: string) =>
    findDelivery(running.service.database.query, { orgId: orgId(), targetId, id });
  const signature = (secret: string, id: string, timestamp: unknown, body: string) =>
    `v1,${createHmac("sha256", Buffer.from(secret.slice(6), "base64"))
      .update(`${id}.${timestamp}.${body}`)
      .digest("base64")}`;

  test("an event that was asked for is sent with its id, signed, and others are not", async () => {
    const { webhook, secret } = await create(["scope.created"]);
    const id = await happen("s1", { applicationId: "app-1" });
    await happen("s1", { action: "scope.changed" });
    await settle();
    assert.deepEqual(receiver.ids(), [id]);
    const [{ headers, body } = { headers: {}, body: "" }] = receiver.received;
    assert.deepEqual(JSON.parse(body), {
      ...{ id, type: "scope.created", timestamp: new Date(clock()).toISOString() },
      data: { organisation: orgId(), actor: "user:u1", target: "s1", details: { name: "read" } },
    });
    assert.equal(headers["webhook-timestamp"], String(Math.floor(clock() / SECOND)));
    const timestamp = headers["webhook-timestamp"];
    assert.equal(headers["webhook-signature"], signature(secret, id, timestamp, body));
    assert.equal(headers["content-type"], "application/json");
    assert.ok(!JSON.stringify(receiver.received).includes(secret));
    const { state, attempts, lastStatus } = (await read(webhook.id, id)) ?? {};
    assert.deepEqual([state, attempts, lastStatus], ["delivered", 1, 204]);
    assert.equal(await settle(), 0, "once");
  });

  test("a failure holds the queue: tries at 5 s, 30 s, 2 min, 10 min, 1 h, 4 h, 12 h, 24 h, then dead, and on", async () => {
    const { webhook } = await create();
    const [first, second] = [await happen("s1"), await happen("s2")];
    receiver.answer = 500;
    const timestamps: number[] = [];
    for (const delay of [0, 5, 30, 120, 600, 3_600, 4 * 3_600, 12 * 3_600, 24 * 3_600]) {
      if (delay > 0) {
        clock.advance(delay * SECOND - 1);
        assert.equal(await settle(), 0, `not before ${delay} s`);
        clock.advance(1);
      }
      timestamps.push(Math.floor(clock() / SECOND));
      await settle();
    }
    assert.equal(RETRY_DELAYS_MS.length, 8);
    const tries = receiver.received.filter(({ headers }) => headers["webhook-id"] === first);
    assert.equal(tries.length, 9);
    assert.deepEqual(
      tries.map(({ headers }) => Number(headers["webhook-timestamp"])),
      timestamps,
      "each try has its own time, and the event's id",
    );
    assert.equal((await read(webhook.id, first))?.state, "dead");
    assert.equal(receiver.ids().at(-1), second, "the next one had its turn");
    assert.equal((await read(webhook.id, second))?.attempts, 1);
  });

  test("all that failed are sent again, in order, after what waits, and nothing else is", async () => {
    const { webhook } = await create();
    const ids = [await happen("s1"), await happen("s2")];
    const delivered = await happen("s3");
    await catchUp();
    const { query } = running.service.database;
    const outcome = { at: clock(), status: 500, error: "no" };
    for (const id of [...ids, delivered]) {
      const state = id === delivered ? ("delivered" as const) : ("dead" as const);
      const delivery = await read(webhook.id, id);
      if (delivery) await recordAttempt(query, delivery, { ...outcome, state });
    }
    const waiting = await happen("s4");
    await catchUp();
    assert.equal(await retryFailed(running.service, { ...act(), id: webhook.id }), 2);
    const [event] = await listAuditEvents(query, orgId(), 1);
    assert.deepEqual([event?.action, event?.details], ["webhook.replayed", { count: 2 }]);
    await deliver();
    assert.deepEqual(receiver.ids(), [waiting, ...ids]);
    assert.equal(await retryFailed(running.service, { ...act(), id: webhook.id }), 0);
    const other = { orgId: newUuid(), actor: "user:u1", id: webhook.id };
    assert.equal(await retryFailed(running.service, other), undefined);
    await changeWebhook(running.service, { ...act(), id: webhook.id, change: { enabled: false } });
    await assert.rejects(retryFailed(running.service, { ...act(), id: webhook.id }), InvalidWebhook);
  });

  test("a receiver that is away for an hour loses nothing, and gets all in order", async () => {
    await create();
    const ids: string[] = [];
    receiver.answer = (_event, response) => void response.socket?.destroy();
    for (let minute = 0; minute < 60; minute += 10) {
      ids.push(await happen(`s${minute}`), await happen(`t${minute}`));
      await settle();
      clock.advance(600 * SECOND);
    }
    receiver.answer = 200;
    receiver.received.length = 0;
    clock.advance(4 * 3_600 * SECOND);
    await settle();
    assert.deepEqual(receiver.ids(), ids);
  });

  test("410 disables the webhook and is audited; enabled again it takes what happens from then on", async () => {
    const { webhook } = await create();
    const gone = await happen("s1");
    receiver.answer = 410;
    await settle();
    const key = { orgId: orgId(), id: webhook.id };
    const found = await findWebhook(running.service.database.query, key);
    assert.deepEqual([found?.enabled, found?.disabledReason], [false, "gone"]);
    assert.equal((await read(webhook.id, gone))?.state, "dead");
    const [newest] = await listAuditEvents(running.service.database.query, orgId(), 1);
    assert.deepEqual(
      [newest?.action, newest?.actor, newest?.target],
      ["webhook.changed", "system", webhook.id],
    );
    await happen("s2");
    await settle();
    receiver.answer = 200;
    await changeWebhook(running.service, { ...act(), id: webhook.id, change: { enabled: true } });
    const later = await happen("s3");
    await settle();
    assert.deepEqual(receiver.ids(), [gone, later]);
    assert.equal((await findWebhook(running.service.database.query, key))?.disabledReason, null);
  });

  test("a redirect is a failure and is not followed; an answer of any length is success", async () => {
    const { webhook } = await create();
    const id = await happen("s1");
    receiver.answer = 302;
    await settle();
    assert.equal(receiver.received.length, 1);
    assert.deepEqual((await read(webhook.id, id))?.lastStatus, 302);
    receiver.answer = (_event, response) => {
      response.writeHead(200);
      // Never ends.
      response.write("x".repeat(256 * 1024));
    };
    clock.advance(5 * SECOND);
    await settle();
    assert.equal((await read(webhook.id, id))?.state, "delivered");
  });

  test("an address inside the network is not called", async () => {
    const { webhook } = await create(["scope.*"], "https://10.0.0.1/hooks");
    const id = await happen("s1");
    await settle();
    const delivery = await read(webhook.id, id);
    assert.match(delivery?.lastError ?? "", /forbidden address/);
    assert.equal(delivery?.state, "pending");
  });

  test("while a secret is rotated both sign; afterwards the new one alone", async () => {
    const { webhook, secret } = await create();
    const rotate = { ...act(), id: webhook.id, overlapSeconds: 60 };
    const rotated = await rotateWebhookSecret(running.service, rotate);
    await happen("s1");
    await settle();
    clock.advance(60 * SECOND);
    await happen("s2");
    await settle();
    const [during, later] = receiver.received.map(({ headers, body }) => ({
      is: headers["webhook-signature"],
      by: [rotated?.secret ?? "", secret].map((one) =>
        signature(one, String(headers["webhook-id"]), headers["webhook-timestamp"], body),
      ),
    }));
    assert.equal(during?.is, during?.by.join(" "));
    assert.equal(later?.is, later?.by[0]);
  });

  test("of two nodes one sends from a queue at a time, and each event once", async () => {
    const other = name === "postgres" ? await startTestService({ databaseUrl, clock, env: ENV }) : undefined;
    const nodes = other ? [running, other] : [running, running];
    await create();
    const ids: string[] = [];
    for (let index = 0; index < 20; index++) ids.push(await happen(`s${index}`));
    await Promise.all(nodes.map((node) => catchUp(node)));
    await Promise.all(nodes.flatMap((node) => [deliver(node), deliver(node)]));
    await deliver();
    await other?.close();
    assert.deepEqual(receiver.ids(), ids);
  });

  test("what a node had sent as it died is sent again by another, with the same id, once its claim ends", async () => {
    const { webhook } = await create();
    const id = await happen("s1");
    await catchUp();
    const dying = deps();
    const kinds = {
      webhook: {
        ...dying.kinds["webhook"],
        attempt: async (delivery) => {
          await dying.kinds["webhook"]?.attempt(delivery);
          return new Promise(() => {});
        },
      },
    } as typeof dying.kinds;
    for (const target of await due()) void deliverTarget({ ...dying, kinds }, target);
    await eventually("it has sent", () => receiver.received.length === 1);
    assert.equal(await deliver(), 0, "the claim is the dead node's");
    clock.advance(30 * SECOND);
    await deliver();
    assert.deepEqual(receiver.ids(), [id, id]);
    assert.equal((await read(webhook.id, id))?.state, "delivered");
  });

  test("a claim that is not given back ends by itself", async () => {
    const { webhook } = await create();
    const id = await happen("s1");
    await catchUp();
    const claim = { claim: newUuid(), now: clock(), until: clock() + 30 * SECOND };
    const key = { orgId: orgId(), id: webhook.id };
    assert.ok(await claimTarget(running.service.database.query, key, claim));
    assert.equal(await deliver(), 0);
    clock.advance(30 * SECOND);
    await deliver();
    assert.deepEqual(receiver.ids(), [id]);
  });

  test("a suspended organisation's events wait; a deleted webhook's are gone", async () => {
    const { webhook } = await create();
    const id = await happen("s1");
    await catchUp();
    const status = { orgId: orgId(), actor: "operator" };
    await setOrganisationStatus(running.service, { ...status, disabled: true });
    assert.equal(await deliver(), 0);
    clock.advance(60 * SECOND);
    await setOrganisationStatus(running.service, { ...status, disabled: false });
    await deliver();
    assert.deepEqual(receiver.ids(), [id]);
    await happen("s2");
    await catchUp();
    assert.ok(await deleteWebhook(running.service, { ...act(), id: webhook.id }));
    assert.equal(await deliver(), 0);
    assert.equal(await read(webhook.id, id), undefined);
  });

  test("a dead delivery is sent again when asked for, with all tries ahead", async () => {
    const { webhook } = await create();
    const id = await happen("s1");
    receiver.answer = 500;
    for (const delay of [0, ...RETRY_DELAYS_MS]) {
      clock.advance(delay);
      await settle();
    }
    const key = { ...act(), targetId: webhook.id, id };
    assert.equal((await read(webhook.id, id))?.state, "dead");
    const waiting = await resendDelivery(running.service, key);
    assert.deepEqual([waiting?.state, waiting?.attempts], ["pending", 0]);
    receiver.answer = 200;
    await deliver();
    assert.equal((await read(webhook.id, id))?.state, "delivered");
    await resendDelivery(running.service, key);
    await deliver();
    assert.deepEqual(receiver.ids().slice(-2), [id, id]);
  });

  test("the events of a time are sent again: those that the webhook takes, in order, before its time too", async () => {
    const early = await happen("s0");
    clock.advance(SECOND);
    const { webhook } = await create();
    const from = clock();
    const ids = [await happen("s1"), await happen("s2", { action: "scope.changed" })];
    await happen("u1", { action: "user.disabled" });
    await settle();
    clock.advance(SECOND);
    const key = { ...act(), id: webhook.id };
    const replay = (more: Partial<Parameters<typeof replayEvents>[1]> = {}) =>
      replayEvents(running.service, { ...key, from, to: clock(), events: undefined, ...more });
    assert.equal(await replay(), 2);
    const [told] = await listAuditEvents(running.service.database.query, orgId(), 1);
    assert.deepEqual(
      [told?.action, told?.target, told?.details["count"]],
      ["webhook.replayed", webhook.id, 2],
    );
    await deliver();
    assert.deepEqual(receiver.ids(), [...ids, ...ids]);
    assert.equal(await replay({ events: ["scope.changed", "user.*"] }), 1);
    assert.equal(await replay({ from: from - SECOND }), 3);
    await deliver();
    assert.deepEqual(receiver.ids().slice(4), [ids[1], early, ids[0]], "what waits keeps its place");
    assert.equal(await replay({ from: clock(), to: clock() + 1 }), 0);
    await changeWebhook(running.service, { ...act(), id: webhook.id, change: { enabled: false } });
    await assert.rejects(replay(), InvalidWebhook);
  });

  test("a test message is sent like an event", async () => {
    const { webhook } = await create();
    const delivery = await sendTest(running.service, { orgId: orgId(), id: webhook.id, actor: "user:u1" });
    await deliver();
    assert.deepEqual(receiver.ids(), [delivery?.id]);
    assert.equal(JSON.parse(receiver.received[0]?.body ?? "").type, "webhook.test");
  });

  test("in the background: what is chained goes out at once, and workers end with their calls", async () => {
    const { webhook } = await create();
    const errors: unknown[] = [];
    const onError = (error: unknown) => void errors.push(error);
    const events = startEventWorker({ ...deps(), onError });
    const chainDeps = { ...running.service, noteHead: () => {}, onError };
    const moved = ({ orgId: grown }: { orgId: string }) => events.moved(grown);
    const stopChain = startAuditChain({ ...chainDeps, moved });
    const ids = [await happen("s1"), await happen("s2")];
    await eventually("both have come", () => receiver.received.length === 2);
    receiver.answer = (_event, response) => void setTimeout(() => response.writeHead(200).end(), 50);
    const last = await happen("s3");
    await eventually("it is on its way", () => receiver.received.length === 3);
    await stopChain();
    await events.stop();
    assert.deepEqual(receiver.ids(), [...ids, last]);
    assert.deepEqual(errors, []);
    assert.equal((await read(webhook.id, last))?.state, "delivered");
  });
});
