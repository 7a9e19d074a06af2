// A receiver that has lost its permission hears nothing, one that asks too much learns nothing and takes no more than its share.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import type { ApplicationSettings } from "../../core/applications/application.ts";
import { changeApplication } from "../../core/applications/application-changes.ts";
import { recordAuditEvent } from "../../core/audit/audit.store.ts";
import { chainOrganisation } from "../../core/audit/chain/chaining.ts";
import { deliverTarget } from "../../core/event-deliveries/deliver.ts";
import { feedOrganisation } from "../../core/event-deliveries/feed.ts";
import { listDueTargets } from "../../core/event-deliveries/targets.store.ts";
import { MAX_REMOVED_SUBJECTS } from "../../core/event-streams/event-stream.ts";
import { supportedEvents } from "../../core/event-streams/security-events.ts";
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

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let receiver: EventReceiver;
  let client: TestClient;
  let token: string;
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
    client = await makeClient(running.service, org.organisation, {
      ...{ grantTypes: ["client_credentials"], allowedScopes: ["ssf.read", "ssf.manage"] },
    });
    token = await tokenFor(org, client);
    receiver = await startEventReceiver();
    receiver.answer = 202;
  });
  afterEach(() => receiver.close());

  const orgId = () => org.organisation.id;
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const url = `${org.issuer}/ssf${path}`;
    const answer = await ask(url, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: answer.status, body: answer.text === "" ? {} : JSON.parse(answer.text) };
  };
  const create = async (delivery: object): Promise<string> => {
    const { status, body } = await post("/streams", { events_requested: supportedEvents, delivery });
    assert.equal(status, 201, JSON.stringify(body));
    return body.stream_id;
  };
  const happen = () =>
    recordAuditEvent(running.service.database.query, {
      ...{ orgId: orgId(), at: clock(), actor: "system", action: "user.disabled", target: org.user.id },
    });
  const feed = async () => {
    await chainOrganisation({ ...running.service, key: running.service.chainKey }, orgId());
    await feedOrganisation({ ...running.service, kinds: eventTargetKinds(running.service) }, orgId());
  };
  const send = async () => {
    const deps = { ...running.service, kinds: eventTargetKinds(running.service) };
    const search = { now: clock(), limit: 100, full: [], kinds: Object.keys(deps.kinds) };
    for (const target of await listDueTargets(running.service.database.query, search))
      if (target.orgId === orgId()) await deliverTarget(deps, target);
  };
  const allow = (change: Pick<ApplicationSettings, "allowedScopes" | "grantTypes">) =>
    changeApplication(
      running.service,
      { orgId: orgId(), actor: "test", id: client.application.id },
      ({ name, settings }) => ({
        ...{ name, disabled: false },
        settings: { ...settings, redirectUris: ["https://app.example/"], ...change },
      }),
    );

  test("a client that may not hear of events any more is pushed none, not those that waited either", async () => {
    await create({ method: PUSH, endpoint_url: receiver.url });
    const allowed = { allowedScopes: ["ssf.read"], grantTypes: ["client_credentials"] } as const;
    for (const taken of [{ allowedScopes: ["openid"] }, { grantTypes: ["authorization_code"] }] as const) {
      await happen();
      await feed();
      await allow({ ...allowed, ...taken });
      await happen();
      await feed();
      await send();
      assert.equal(receiver.received.length, 0, JSON.stringify(taken));
      await allow(allowed);
    }
    clock.advance(60_000);
    await happen();
    await feed();
    await send();
    // What waited from before, and what has happened since; not what happened between.
    assert.equal(receiver.received.length, 3);
  });

  test("a full list of left-out subjects does not tell who has an account", async () => {
    const stream_id = await create({ method: POLL });
    const { query } = running.service.database;
    const removed = Array.from({ length: MAX_REMOVED_SUBJECTS }, (_, at) => ({
      ...{ org_id: orgId(), stream_id, user_id: `user-${at}` },
    }));
    for (let from = 0; from < removed.length; from += 1_000)
      await query
        .insertInto("event_stream_removed")
        .values(removed.slice(from, from + 1_000))
        .execute();
    const remove = async (email: string) => {
      const { status, body } = await post("/subjects/remove", {
        stream_id,
        subject: { format: "email", email },
      });
      return [status, body.type, body.detail];
    };
    const known = await remove(org.user.email);
    assert.equal(known[0], 400);
    assert.deepEqual(await remove("nobody@acme.example"), known);
  });

  test("a stream that is paused while its receiver waits tells it nothing", async () => {
    const stream_id = await create({ method: POLL });
    let answered = false;
    const waiting = post(`/streams/${stream_id}/poll`, {}).finally(() => {
      answered = true;
    });
    await post("/status", { stream_id, status: "paused" });
    await happen();
    await feed();
    // Others than five are not kept waiting.
    const more = Array.from({ length: 5 }, () => post(`/streams/${stream_id}/poll`, {}));
    const first = await Promise.race(more);
    assert.deepEqual([first.status, first.body], [200, { sets: {}, moreAvailable: false }]);
    assert.equal(answered, false);
    await post("/status", { stream_id, status: "enabled" });
    const { body } = await waiting;
    assert.equal(Object.keys(body.sets).length, 1);
    await Promise.all(more);
  });
});
