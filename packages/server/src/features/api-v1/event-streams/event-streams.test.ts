// What administrators do with streams of security events, and what their receivers hear of it (SSF 1.0 §8.1.5).
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { decodeJwt } from "jose";
import { listAuditEvents, recordAuditEvent } from "../../../core/audit/audit.store.ts";
import { chainOrganisation } from "../../../core/audit/chain/chaining.ts";
import { deliverTarget, RETRY_DELAYS_MS } from "../../../core/event-deliveries/deliver.ts";
import { feedOrganisation } from "../../../core/event-deliveries/feed.ts";
import { listDueTargets } from "../../../core/event-deliveries/targets.store.ts";
import { type EventStream, POLL, PUSH } from "../../../core/event-streams/event-stream.ts";
import { createStream } from "../../../core/event-streams/event-streams.ts";
import {
  eventTypes,
  STREAM_UPDATED,
  supportedEvents,
  VERIFICATION,
} from "../../../core/event-streams/security-events.ts";
import { eventTargetKinds } from "../../../modules/event-targets.ts";
import { ask } from "../../../testing/ask.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type EventReceiver, startEventReceiver } from "../../../testing/fakes/event-receiver.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type ApiClient, makeApiClient, tokenFor } from "../../../testing/fixtures/api-client.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

type Json = Record<string, unknown>;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let api: ApiClient;
  let clock: FakeClock;
  let receiver: EventReceiver;
  let client: TestClient;
  before(async () => {
    clock = fakeClock();
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
    running = await startTestService({ databaseUrl: await fresh(), clock, env });
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });
  beforeEach(async () => {
    org = await makeOrganisation(running.service);
    api = await makeApiClient(running.service, org, ["signet:organisation:write"]);
    const settings = { grantTypes: ["client_credentials"] as const, allowedScopes: ["ssf.manage"] };
    client = await makeClient(running.service, org.organisation, settings);
    receiver = await startEventReceiver();
  });
  afterEach(() => receiver.close());

  const orgId = () => org.organisation.id;
  const newStream = (method: string): Promise<EventStream> =>
    createStream(running.service, {
      ...{ orgId: orgId(), actor: "test", client: client.application },
      settings: {
        ...{ method, endpointUrl: method === PUSH ? receiver.url : null },
        ...{ eventsRequested: supportedEvents, description: null },
      },
    });
  const set = async ({ id }: EventStream, body: Json) => {
    const answer = await api.call("PATCH", `/event-streams/${id}`, { body });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  };
  const settle = async () => {
    const deps = { ...running.service, kinds: eventTargetKinds(running.service) };
    await chainOrganisation({ ...running.service, key: running.service.chainKey }, orgId());
    await feedOrganisation(deps, orgId());
    const search = { now: clock(), limit: 100, full: [], kinds: Object.keys(deps.kinds) };
    for (const target of await listDueTargets(running.service.database.query, search))
      if (target.orgId === orgId()) await deliverTarget(deps, target);
  };
  const disable = async () => {
    const event = { orgId: orgId(), at: clock(), actor: "client:c", target: org.user.id };
    await recordAuditEvent(running.service.database.query, { ...event, action: "user.disabled" });
    await settle();
  };
  const eventsIn = (tokens: readonly string[]) =>
    tokens.map((token) => decodeJwt<{ events: Json }>(token).events);
  const pushed = () => eventsIn(receiver.received.splice(0).map(({ body }) => body));
  const types = (events: readonly Json[]) => events.flatMap((one) => Object.keys(one));
  const poll = async ({ id }: EventStream) => {
    const headers = {
      authorization: `Bearer ${await tokenFor(org, client)}`,
      "content-type": "application/json",
    };
    const body = JSON.stringify({ returnImmediately: true });
    const { text } = await ask(`${org.issuer}/ssf/streams/${id}/poll`, { method: "POST", headers, body });
    return eventsIn(Object.values((JSON.parse(text) as { sets: Record<string, string> }).sets));
  };

  test("they are listed and read without what the receiver has given for the header of its pushes", async () => {
    const stream = await newStream(PUSH);
    const { body } = await api.call("GET", "/event-streams");
    assert.deepEqual(body["items"], [(await api.call("GET", `/event-streams/${stream.id}`)).body]);
    assert.deepEqual(
      Object.keys((body["items"] as Json[])[0] ?? {}).sort(),
      [
        ...["id", "clientId", "status", "statusReason", "method", "endpointUrl", "eventsRequested"],
        ...["description", "createdAt", "updatedAt"],
      ].sort(),
    );
    const filter = (value: string) => `/event-streams?filter=${encodeURIComponent(`status eq "${value}"`)}`;
    assert.equal(((await api.call("GET", filter("enabled"))).body["items"] as Json[]).length, 1);
    assert.deepEqual((await api.call("GET", filter("paused"))).body["items"], []);
  });

  test("the receiver of pushes is told before what waits, out of a stream that sends nothing else", async () => {
    const stream = await newStream(PUSH);
    receiver.answer = 503;
    await disable();
    assert.deepEqual(types(pushed()), [eventTypes.accountDisabled]);
    receiver.answer = 204;
    const paused = await set(stream, { status: "paused", statusReason: "maintenance" });
    assert.deepEqual([paused["status"], paused["statusReason"]], ["paused", "maintenance"]);
    await settle();
    assert.deepEqual(pushed(), [{ [STREAM_UPDATED]: { status: "paused", reason: "maintenance" } }]);
    clock.advance(60_000);
    await disable();
    assert.deepEqual(pushed(), [], "held");
    await set(stream, { status: "enabled" });
    await settle();
    const events = pushed();
    assert.deepEqual(events[0], { [STREAM_UPDATED]: { status: "enabled" } });
    assert.deepEqual(types(events.slice(1)), [eventTypes.accountDisabled, eventTypes.accountDisabled]);
    await set(stream, { status: "disabled" });
    await settle();
    assert.deepEqual(pushed(), [{ [STREAM_UPDATED]: { status: "disabled" } }]);
    await disable();
    assert.deepEqual(pushed(), []);
    const subjects = await listAuditEvents(running.service.database.query, orgId(), 20);
    const [actor] = subjects
      .filter(({ action }) => action === "event-stream.changed")
      .map((one) => one.actor);
    assert.equal(actor, `client:${api.application.id}`);
  });

  test("a notice that never arrives opens no stream", async () => {
    const stream = await newStream(PUSH);
    receiver.answer = 503;
    await disable();
    await set(stream, { status: "paused" });
    for (const delay of [0, ...RETRY_DELAYS_MS, 60_000]) {
      clock.advance(delay);
      await settle();
    }
    receiver.answer = 204;
    const told = types(pushed());
    assert.equal(told.filter((type) => type === STREAM_UPDATED).length, RETRY_DELAYS_MS.length + 1);
    assert.equal(told.filter((type) => type !== STREAM_UPDATED).length, 1, "before it was paused");
    await settle();
    assert.deepEqual(pushed(), []);
  });

  test("who polls hears of it, and of nothing else meanwhile", async () => {
    const stream = await newStream(POLL);
    await disable();
    await set(stream, { status: "paused" });
    assert.deepEqual(await poll(stream), [{ [STREAM_UPDATED]: { status: "paused" } }]);
    await set(stream, { status: "enabled" });
    // That of the pause was not acknowledged: it holds no longer.
    const [first, ...more] = await poll(stream);
    assert.deepEqual(first, { [STREAM_UPDATED]: { status: "enabled" } });
    assert.deepEqual(types(more), [eventTypes.accountDisabled]);
    await set(stream, { status: "disabled", statusReason: "over" });
    assert.deepEqual(await poll(stream), [{ [STREAM_UPDATED]: { status: "disabled", reason: "over" } }]);
  });

  test("a status that was there already is told to nobody; a reason goes with its status", async () => {
    const stream = await newStream(POLL);
    await set(stream, { status: "enabled", statusReason: "fine" });
    assert.equal((await set(stream, {}))["statusReason"], "fine");
    assert.deepEqual(await poll(stream), []);
    assert.equal((await set(stream, { status: "paused" }))["statusReason"], null);
  });

  test("a receiver that sets the status itself is told nothing, and nothing of an earlier one", async () => {
    const stream = await newStream(POLL);
    await set(stream, { status: "paused" });
    const headers = {
      authorization: `Bearer ${await tokenFor(org, client)}`,
      "content-type": "application/json",
    };
    const body = JSON.stringify({ stream_id: stream.id, status: "enabled" });
    assert.equal((await ask(`${org.issuer}/ssf/status`, { method: "POST", headers, body })).status, 200);
    assert.deepEqual(await poll(stream), []);
  });

  test("a verification event is sent, and not twice within a second; a deleted stream is gone", async () => {
    const stream = await newStream(PUSH);
    const verify = () => api.call("POST", `/event-streams/${stream.id}/verify`);
    assert.equal((await verify()).status, 200);
    const again = await verify();
    assert.deepEqual([again.status, again.body["type"]], [429, "urn:signet:error:rate-limited"]);
    await settle();
    assert.deepEqual(pushed(), [{ [VERIFICATION]: {} }]);
    await set(stream, { status: "disabled" });
    clock.advance(1_000);
    assert.deepEqual([(await verify()).status, (await verify()).status], [409, 409]);
    const headers = {
      authorization: `Bearer ${await tokenFor(org, client)}`,
      "content-type": "application/json",
    };
    const asked = { method: "POST", headers, body: JSON.stringify({ stream_id: stream.id }) };
    assert.equal((await ask(`${org.issuer}/ssf/verify`, asked)).status, 400);
    await set(stream, { status: "enabled" });
    await settle();
    assert.deepEqual(types(pushed()), [STREAM_UPDATED], "nothing was held");
    assert.equal((await api.call("DELETE", `/event-streams/${stream.id}`)).status, 204);
    for (const [method, path] of [
      ["GET", ""],
      ["PATCH", ""],
      ["DELETE", ""],
      ["POST", "/verify"],
    ] as const) {
      const options = method === "PATCH" ? { body: { status: "paused" } } : {};
      assert.equal((await api.call(method, `/event-streams/${stream.id}${path}`, options)).status, 404);
    }
  });

  test("who has read an earlier version changes nothing", async () => {
    const stream = await newStream(POLL);
    const at = `/event-streams/${stream.id}`;
    const etag = (await api.call("GET", at)).headers.get("etag") ?? "";
    await set(stream, { status: "paused" });
    const headers = { "if-match": etag };
    assert.equal((await api.call("PATCH", at, { headers, body: { status: "enabled" } })).status, 412);
    assert.equal((await api.call("DELETE", at, { headers })).status, 412);
    assert.equal((await api.call("POST", `${at}/verify`, { headers })).status, 412);
    assert.equal((await api.call("GET", at)).body["status"], "paused");
  });
});
