// The transmitter from the act to the receiver: metadata, streams, push (RFC 8935), poll (RFC 8936), and who hears of whom.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { assignUser } from "../../core/application-access/application-access.ts";
import { deleteApplication } from "../../core/applications/application-changes.ts";
import { listAuditEvents, recordAuditEvent } from "../../core/audit/audit.store.ts";
import { chainOrganisation } from "../../core/audit/chain/chaining.ts";
import { deliverTarget } from "../../core/event-deliveries/deliver.ts";
import { feedOrganisation } from "../../core/event-deliveries/feed.ts";
import { listDueTargets } from "../../core/event-deliveries/targets.store.ts";
import { createStream } from "../../core/event-streams/event-streams.ts";
import { eventTypes, supportedEvents, VERIFICATION } from "../../core/event-streams/security-events.ts";
import { eventTargetKinds } from "../../modules/event-targets.ts";
import { ask } from "../../testing/ask.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type EventReceiver, startEventReceiver } from "../../testing/fakes/event-receiver.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { tokenFor } from "../../testing/fixtures/api-client.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const PUSH = "urn:ietf:rfc:8935";
const POLL = "urn:ietf:rfc:8936";
type Json = Record<string, unknown>;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
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
    client = await newClient();
    receiver = await startEventReceiver();
  });
  afterEach(() => receiver.close());

  const orgId = () => org.organisation.id;
  const newClient = (more: object = {}, scopes = ["ssf.read", "ssf.manage"]) =>
    makeClient(running.service, org.organisation, {
      ...{ grantTypes: ["client_credentials"], allowedScopes: scopes, ...more },
    });
  const call = async (method: string, path: string, body?: unknown, by = client) => {
    const token = await tokenFor(org, by);
    const sent = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
    const answer = await ask(`${org.issuer}/ssf${path}`, {
      ...{ method, ...sent },
      headers: { authorization: `Bearer ${token}`, ...(body ? { "content-type": "application/json" } : {}) },
    });
    return { status: answer.status, body: answer.text === "" ? {} : (JSON.parse(answer.text) as Json) };
  };
  const create = async (more: Json = {}, by = client) => {
    const { status, body } = await call(
      "POST",
      "/streams",
      { events_requested: supportedEvents, ...more },
      by,
    );
    assert.equal(status, 201, JSON.stringify(body));
    return body as Json & { stream_id: string; delivery: { method: string; endpoint_url: string } };
  };
  const push = (more: Json = {}) => ({ delivery: { method: PUSH, endpoint_url: receiver.url, ...more } });
  const happen = async (
    action: "user.disabled" | "user.enabled" | "password.changed",
    target = org.user.id,
  ) => {
    const { query } = running.service.database;
    await recordAuditEvent(query, { orgId: orgId(), at: clock(), actor: "client:c", action, target });
    const [newest] = await listAuditEvents(query, orgId(), 1);
    return String(newest?.id);
  };
  const settle = async () => {
    const deps = { ...running.service, kinds: eventTargetKinds(running.service) };
    await chainOrganisation({ ...running.service, key: running.service.chainKey }, orgId());
    await feedOrganisation(deps, orgId());
    const search = { now: clock(), limit: 100, full: [], kinds: Object.keys(deps.kinds) };
    for (const target of await listDueTargets(running.service.database.query, search))
      if (target.orgId === orgId()) await deliverTarget(deps, target);
  };
  const verified = async (set: string, by = client) => {
    const jwks = createRemoteJWKSet(new URL(`${org.issuer}/.well-known/jwks.json`));
    const options = { issuer: org.issuer, audience: by.application.id, typ: "secevent+jwt" };
    const { payload } = await jwtVerify(set, jwks, { ...options, currentDate: new Date(clock()) });
    assert.equal(decodeProtectedHeader(set).alg, "RS256");
    assert.deepEqual([payload.sub, payload.exp], [undefined, undefined]);
    return payload as Json & { jti: string; sub_id: Json; events: Record<string, Json> };
  };
  const poll = async (stream: { delivery: { endpoint_url: string } }, body: Json = {}, by = client) => {
    const path = stream.delivery.endpoint_url.slice(`${org.issuer}/ssf`.length);
    const answer = await call("POST", path, { returnImmediately: true, ...body }, by);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body as { sets: Record<string, string>; moreAvailable: boolean };
  };

  test("the metadata names endpoints that answer", async () => {
    const url = `${running.baseUrl}/.well-known/ssf-configuration/oauth/${orgId()}`;
    const { status, text } = await ask(url, { method: "GET" });
    assert.equal(status, 200);
    const metadata = JSON.parse(text) as Record<string, string>;
    assert.deepEqual(
      [metadata["issuer"], metadata["spec_version"], metadata["jwks_uri"]],
      [org.issuer, "1_0", `${org.issuer}/.well-known/jwks.json`],
    );
    assert.deepEqual(metadata["delivery_methods_supported"], [PUSH, POLL]);
    assert.deepEqual(metadata["authorization_schemes"], [{ spec_urn: "urn:ietf:rfc:6749" }]);
    const endpoints = Object.entries(metadata).filter(([name]) => name.endsWith("_endpoint"));
    assert.equal(endpoints.length, 5);
    const nowhere = `${running.baseUrl}/.well-known/ssf-configuration/oauth/${org.user.id}`;
    assert.equal((await ask(nowhere, { method: "GET" })).status, 404);
    for (const [name, address] of endpoints)
      assert.equal((await ask(address, { method: "POST" })).status, 401, name);
  });

  test("a stream is created, read, updated, replaced and deleted", async () => {
    assert.deepEqual((await call("GET", "/streams")).body, []);
    const stream = await create({ ...push({ authorization_header: "Bearer x" }), description: "ours" });
    assert.deepEqual(
      [stream["iss"], stream["aud"], stream.delivery],
      [org.issuer, client.application.id, { method: PUSH, endpoint_url: receiver.url }],
    );
    const { stream_id } = stream;
    assert.deepEqual((await call("GET", `/streams?stream_id=${stream_id}`)).body, stream);
    assert.deepEqual((await call("GET", "/streams")).body, [stream]);
    const some = [eventTypes.accountDisabled, "https://unknown.example/event"];
    const patched = await call("PATCH", "/streams", { stream_id, iss: org.issuer, events_requested: some });
    assert.deepEqual(
      [patched.status, patched.body["events_requested"], patched.body["events_delivered"]],
      [200, some, [eventTypes.accountDisabled]],
    );
    assert.equal(patched.body["description"], "ours");
    const replaced = await call("PUT", "/streams", { stream_id, ...push() });
    assert.deepEqual([replaced.body["events_requested"], replaced.body["description"]], [[], undefined]);
    for (const wrong of [{ iss: "https://other.example" }, { aud: "x" }, { events_supported: [] }])
      assert.equal((await call("PATCH", "/streams", { stream_id, ...wrong })).status, 400);
    assert.equal((await call("DELETE", `/streams?stream_id=${stream_id}`)).status, 204);
    assert.equal((await call("GET", `/streams?stream_id=${stream_id}`)).status, 404);
    const events = await listAuditEvents(running.service.database.query, orgId(), 10);
    const actions = new Set(events.map(({ action }) => action));
    for (const action of ["event-stream.created", "event-stream.changed", "event-stream.deleted"])
      assert.ok(actions.has(action), action);
  });

  test("what cannot be is 400, and nothing is stored", async () => {
    for (const body of [
      ...["{", "[]", { delivery: PUSH }, { delivery: { method: PUSH } }, { delivery: { method: "x" } }],
      ...[push({ endpoint_url: "http://receiver.example/" }), push({ endpoint_url: "ftp://x" })],
      ...[push({ authorization_header: "a\nb" }), { events_requested: "x" }, { format: "email" }],
      ...[{ events_requested: Array.from({ length: 51 }, String) }, { description: "x".repeat(501) }],
    ])
      assert.equal((await call("POST", "/streams", body)).status, 400, JSON.stringify(body));
    assert.deepEqual((await call("GET", "/streams")).body, []);
    const { stream_id } = await create();
    for (const [path, body] of [
      ["/status", { stream_id }],
      ["/status", { stream_id, status: "on" }],
      ["/verify", { stream_id, state: 1 }],
      ["/verify", {}],
      ["/subjects/add", { stream_id }],
      ["/subjects/remove", { stream_id, subject: { format: "phone_number", phone_number: "+1" } }],
      [`/streams/${stream_id}/poll`, { ack: "x" }],
    ] as const)
      assert.equal((await call("POST", path, body)).status, 400, path);
    for (let more = 1; more < 5; more++) await create();
    assert.equal((await call("POST", "/streams", {})).status, 409);
  });

  test("an event is pushed, signed, about the user, and acknowledged by 202", async () => {
    await create(push({ authorization_header: "Bearer receiver" }));
    receiver.answer = 202;
    const id = await happen("user.disabled");
    await happen("user.enabled", "01998d70-5c1e-4d3a-8a4b-6f0e2d9c7b15");
    await settle();
    const [first] = receiver.received;
    assert.equal(first?.headers["content-type"], "application/secevent+jwt");
    assert.equal(first?.headers.authorization, "Bearer receiver");
    const { jti, sub_id, events } = await verified(first?.body ?? "");
    assert.equal(jti, id);
    assert.deepEqual(sub_id, { format: "iss_sub", iss: org.issuer, sub: org.user.id });
    assert.deepEqual(events, {
      [eventTypes.accountDisabled]: {
        ...{ event_timestamp: Math.floor(clock() / 1_000), initiating_entity: "admin" },
      },
    });
    assert.equal(receiver.received.length, 2);
  });

  test("a push that is refused is tried again with the same jti", async () => {
    await create(push());
    receiver.answer = (_event, response) =>
      void response.writeHead(400, { "content-type": "application/json" }).end('{"err":"invalid_key"}');
    const id = await happen("password.changed");
    await settle();
    receiver.answer = 202;
    clock.advance(5_000);
    await settle();
    const tokens = await Promise.all(receiver.received.map(({ body }) => verified(body)));
    assert.deepEqual(
      tokens.map(({ jti }) => jti),
      [id, id],
    );
    const claims = tokens[0]?.events[eventTypes.credentialChange];
    assert.deepEqual([claims?.["credential_type"], claims?.["change_type"]], ["password", "update"]);
  });

  test("events are polled until they are acknowledged or reported", async () => {
    const stream = await create();
    assert.equal(stream.delivery.method, POLL);
    const ids = [await happen("user.disabled"), await happen("user.enabled"), await happen("user.disabled")];
    await settle();
    const first = await poll(stream, { maxEvents: 2 });
    assert.deepEqual([Object.keys(first.sets).sort(), first.moreAvailable], [ids.slice(0, 2), true]);
    for (const set of Object.values(first.sets)) await verified(set);
    assert.deepEqual(Object.keys((await poll(stream, { maxEvents: 2 })).sets).sort(), ids.slice(0, 2));
    const [one = "", two = ""] = ids;
    const left = await poll(stream, {
      ack: [one],
      setErrs: { [two]: { err: "invalid_key", description: "x" } },
    });
    assert.deepEqual([Object.keys(left.sets), left.moreAvailable], [[ids[2]], false]);
    assert.deepEqual(await poll(stream, { ack: [ids[2]], maxEvents: 0 }), { sets: {}, moreAvailable: false });
    assert.deepEqual((await poll(stream)).sets, {});
  });

  test("a receiver that waits hears of an event as it happens", async () => {
    const stream = await create();
    const waiting = poll(stream, { returnImmediately: false });
    const id = await happen("user.disabled");
    await settle();
    assert.deepEqual(Object.keys((await waiting).sets), [id]);
  });

  test("a paused stream holds events, a disabled one does not", async () => {
    const { stream_id, ...stream } = await create();
    const status = async (value: string) => {
      const set = await call("POST", "/status", { stream_id, status: value, reason: "night" });
      assert.deepEqual(set.body, { stream_id, status: value, reason: "night" });
      assert.equal((await call("GET", `/status?stream_id=${stream_id}`)).body["status"], value);
    };
    await status("paused");
    const held = await happen("user.disabled");
    await settle();
    assert.deepEqual((await poll(stream)).sets, {});
    await status("enabled");
    assert.deepEqual(Object.keys((await poll(stream)).sets), [held]);
    await status("disabled");
    await happen("user.enabled");
    await settle();
    await status("enabled");
    const later = await happen("user.disabled");
    await settle();
    assert.deepEqual(Object.keys((await poll(stream)).sets), [later]);
  });

  test("a verification event carries the state, and is not sent again and again", async () => {
    const stream = await create({ events_requested: [] });
    const { stream_id } = stream;
    assert.equal((await call("POST", "/verify", { stream_id, state: "abc" })).status, 204);
    assert.equal((await call("POST", "/verify", { stream_id })).status, 429);
    const [set = ""] = Object.values((await poll(stream)).sets);
    const { sub_id, events } = await verified(set);
    assert.deepEqual(sub_id, { format: "opaque", id: stream_id });
    assert.deepEqual(events, { [VERIFICATION]: { state: "abc" } });
  });

  test("a removed subject is left out until it is added again; unknown ones get the same answer", async () => {
    const stream = await create();
    const { stream_id } = stream;
    const ours = { format: "iss_sub", iss: org.issuer, sub: org.user.id };
    const byEmail = { format: "email", email: org.user.email };
    const subjects = (act: string, subject: object) =>
      call("POST", `/subjects/${act}`, { stream_id, subject });
    for (const subject of [ours, byEmail]) {
      assert.equal((await subjects("remove", subject)).status, 204);
      await happen("user.disabled");
      await settle();
      assert.deepEqual((await poll(stream)).sets, {});
      assert.equal((await subjects("add", subject)).status, 200);
      const id = await happen("user.enabled");
      await settle();
      assert.deepEqual(Object.keys((await poll(stream)).sets), [id]);
      await poll(stream, { ack: [id] });
    }
    const nobody = { format: "email", email: "nobody@acme.example" };
    assert.equal((await subjects("remove", nobody)).status, 204);
    assert.equal((await subjects("add", nobody)).status, 200);
  });

  test("a client hears of users who may use it, and of no other", async () => {
    const closed = await newClient({ access: "assigned" });
    const stream = await create({}, closed);
    await happen("user.disabled");
    await settle();
    assert.deepEqual((await poll(stream, {}, closed)).sets, {});
    await assignUser(running.service, {
      ...{ orgId: orgId(), actor: "test", applicationId: closed.application.id, userId: org.user.id },
    });
    const id = await happen("user.enabled");
    await settle();
    assert.deepEqual(Object.keys((await poll(stream, {}, closed)).sets), [id]);
  });

  test("a deleted client's streams and queues go with it", async () => {
    await create(push());
    await deleteApplication(running.service, { orgId: orgId(), actor: "test", id: client.application.id });
    await happen("user.disabled");
    await settle();
    assert.equal(receiver.received.length, 0);
    const { query } = running.service.database;
    const left = await query.selectFrom("event_target").select("id").where("org_id", "=", orgId()).execute();
    assert.deepEqual(left, []);
  });

  test("streams are their client's alone; tokens need the scope and are a client's own for this transmitter", async () => {
    const stream = await create();
    const { stream_id } = stream;
    const other = await newClient();
    const pollPath = `/streams/${stream_id}/poll`;
    for (const [method, path, body] of [
      ["GET", `/streams?stream_id=${stream_id}`, undefined],
      ["PATCH", "/streams", { stream_id, events_requested: [] }],
      ["PUT", "/streams", { stream_id }],
      ["DELETE", `/streams?stream_id=${stream_id}`, undefined],
      ["GET", `/status?stream_id=${stream_id}`, undefined],
      ["POST", "/status", { stream_id, status: "disabled" }],
      ["POST", "/verify", { stream_id }],
      ["POST", "/subjects/add", { stream_id, subject: { format: "email", email: "a@b.example" } }],
      ["POST", "/subjects/remove", { stream_id, subject: { format: "email", email: "a@b.example" } }],
      ["POST", pollPath, { returnImmediately: true }],
    ] as const)
      assert.equal((await call(method, path, body, other)).status, 404, `${method} ${path}`);
    const reader = await newClient({}, ["ssf.read"]);
    assert.equal((await call("GET", "/streams", undefined, reader)).status, 200);
    assert.equal((await call("POST", "/streams", {}, reader)).status, 403);
    const elsewhere = await newClient({ audience: "https://api.example" });
    assert.equal((await call("GET", "/streams", undefined, elsewhere)).status, 401);
    assert.equal((await ask(`${org.issuer}/ssf/streams`, { method: "GET" })).status, 401);
    const neighbour = await makeOrganisation(running.service, "Neighbour");
    const foreign = await tokenFor(org, client);
    const headers = { authorization: `Bearer ${foreign}` };
    assert.equal((await ask(`${neighbour.issuer}/ssf/streams`, { method: "GET", headers })).status, 401);
  });

  test("a client whose tokens a pool signs gets no stream, and hears why", async () => {
    const settings = { method: POLL, endpointUrl: null, eventsRequested: [], description: null };
    const signed = { ...client.application.settings, signingPoolId: client.application.id };
    const act = { orgId: orgId(), actor: "test", client: { ...client.application, settings: signed } };
    await assert.rejects(createStream(running.service, { ...act, settings }), { code: "pool-signed" });
  });
});
