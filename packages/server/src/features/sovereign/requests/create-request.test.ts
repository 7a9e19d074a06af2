import assert from "node:assert/strict";
import { test } from "node:test";
import { newUuid } from "@signet/protocol/uuid";
import { sql } from "kysely";
import { endDeviceSessions } from "../../../core/sessions/end-sessions.ts";
import { insertSession } from "../../../core/sessions/sessions.store.ts";
import { browserSessionHash } from "../../../core/signing-pools/user-requests.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { signingFixture } from "../../../testing/fixtures/signing-fixture.ts";
import { SECOND, withBrowser } from "../../../testing/fixtures/signing-steps.ts";
import { claimRequest } from "./claim-request.ts";
import { removeWaiter } from "./create-request.store.ts";
import { createRequest, joinRequest } from "./create-request.ts";
import { takeContinuation } from "./release-request.ts";
import { requestStatus } from "./request-status.ts";
import { MAX_PER_USER } from "./signing-request.ts";

forEachDatabase(({ fresh }) => {
  const { clock, harness, steps } = signingFixture(fresh);

  test("queues nothing without an agent seen in the last minute, unless a browser waits", async () => {
    const pool = await harness.addPool();
    const away = await harness.addAgent({ pool });
    const request = harness.newRequest({ poolId: pool.id });
    assert.notEqual(typeof (await createRequest(harness.signing, request)), "string");
    clock.advance(60 * SECOND);
    assert.equal(await createRequest(harness.signing, request), "no_agent");
    clock.advance(SECOND);
    assert.equal(await createRequest(harness.signing, request), "no_agent");
    const made = await createRequest(harness.signing, { ...request, ...withBrowser });
    assert.ok(typeof made !== "string");
    const status = await requestStatus(harness.signing, { orgId: harness.orgId, requestId: made.requestId });
    assert.equal(status?.agentSeen, false);
    await away.seen();
    assert.equal(
      (await requestStatus(harness.signing, { orgId: harness.orgId, requestId: made.requestId }))?.agentSeen,
      true,
    );
    assert.notEqual(typeof (await createRequest(harness.signing, request)), "string");
  });

  test("what a browser waits for ends with the sessions of its machine, and with no others", async () => {
    const { orgId, signing } = harness;
    const { database } = signing;
    const begin = async (deviceId: string | null) => {
      const id = newUuid();
      const times = {
        authTime: clock(),
        createdAt: clock(),
        lastSeenAt: clock(),
        expiresAt: clock() + 60 * SECOND,
      };
      const session = { orgId, id, userId: newUuid(), amr: ["pwd"], acr: "", ...times, deviceId };
      await insertSession(database.query, { ...session, tokenHash: id, address: "", userAgent: "" });
      const waiting = { ...withBrowser, browserSessionHash: browserSessionHash(id) };
      const made = await createRequest(signing, harness.newRequest({ ...waiting, userId: session.userId }));
      assert.ok(typeof made !== "string");
      return made.requestId;
    };
    const [device, other] = [newUuid(), newUuid()];
    const requests = [await begin(device), await begin(device), await begin(other), await begin(null)];
    const ended = await database.transaction((tx) =>
      endDeviceSessions(tx, { orgId, deviceId: device, now: clock() }),
    );
    assert.equal(ended.length, 2);
    const states = requests.map(
      async (requestId) => (await requestStatus(signing, { orgId, requestId }))?.state,
    );
    assert.deepEqual(await Promise.all(states), ["expired", "expired", "pending", "pending"]);
  });

  test("enforces the queue limit; signed and final requests don't count", async () => {
    const pool = await harness.addPool({ maxPending: 2 });
    const own = await harness.addAgent({ pool });
    const make = () => createRequest(harness.signing, harness.newRequest({ poolId: pool.id }));
    const first = await make();
    await make();
    assert.equal(await make(), "queue_full");
    assert.ok(typeof first !== "string");
    await steps.sign(await steps.claimed(first.requestId, own), own);
    assert.notEqual(typeof (await make()), "string");
    assert.equal(await make(), "queue_full");
    clock.advance(60 * SECOND);
    await own.seen();
    assert.notEqual(typeof (await make()), "string");
  });

  test("limits the open requests of one user", async () => {
    const pool = await harness.addPool();
    await harness.addAgent({ pool });
    const make = (userId: string | null, more = {}) =>
      createRequest(harness.signing, harness.newRequest({ poolId: pool.id, userId, ...more }));
    for (let count = 0; count < MAX_PER_USER; count++) {
      const made = await make("one", count % 2 === 0 ? withBrowser : {});
      assert.notEqual(typeof made, "string");
    }
    assert.equal(await make("one"), "queue_full");
    assert.equal(await make("one", withBrowser), "queue_full");
    for (const other of ["two", null, null]) assert.notEqual(typeof (await make(other)), "string");
    assert.notEqual(typeof (await make("one", { poolId: harness.pool.id, ...withBrowser })), "string");
    clock.advance(60 * SECOND);
    assert.notEqual(typeof (await make("one", withBrowser)), "string");
  });

  test("one user, or one client, cannot fill the queue of a pool", async () => {
    const pool = await harness.addPool({ maxPending: 8 });
    await harness.addAgent({ pool });
    const make = (userId: string | null) =>
      createRequest(harness.signing, harness.newRequest({ poolId: pool.id, userId }));
    const accepted = async (count: number, userId: string | null) => {
      const made = [];
      for (let at = 0; at < count; at++) made.push(typeof (await make(userId)));
      return made.filter((kind) => kind !== "string").length;
    };
    assert.equal(await accepted(8, "one"), 4);
    assert.equal(await accepted(1, "two"), 1);
    assert.equal(await accepted(8, null), 3, "the rest of the queue");
    clock.advance(60 * SECOND);
    await harness.addAgent({ pool });
    assert.equal(await accepted(8, null), 6);
    assert.equal(await accepted(1, "two"), 1);
  });

  test("messages for whoever asks have a quarter of the queue, and leave the client's own requests the rest", async () => {
    const pool = await harness.addPool({ maxPending: 16 });
    await harness.addAgent({ pool });
    const message = {
      use: "authorization_response",
      claims: { iss: "https://id.example", aud: "c" },
    } as const;
    const asked = {
      poolId: pool.id,
      grantType: "authorization_code",
      isAnonymous: true,
      claims: { message },
    } as const;
    const anonymous = () => createRequest(harness.signing, harness.newRequest(asked));
    const made = [];
    for (let at = 0; at < 6; at++) made.push(await anonymous());
    assert.deepEqual(made.map((one) => typeof one).join(), "object,object,object,object,string,string");
    const own = await createRequest(harness.signing, harness.newRequest({ poolId: pool.id }));
    assert.equal(typeof own, "object");
  });

  test("a disabled pool accepts no requests and no claims", async () => {
    const pool = await harness.addPool();
    const own = await harness.addAgent({ pool });
    const made = await createRequest(
      harness.signing,
      harness.newRequest({ poolId: pool.id, ...withBrowser }),
    );
    assert.ok(typeof made !== "string");
    const held = await steps.claimed(made.requestId, own);
    await sql`update signing_pool set disabled_at = 1 where id = ${pool.id}`.execute(harness.database.query);
    assert.equal(
      typeof (await createRequest(harness.signing, harness.newRequest({ poolId: pool.id }))),
      "string",
    );
    assert.equal((await steps.sign(held, own)).outcome, "lease_lost");
    clock.advance(30 * SECOND);
    assert.equal((await claimRequest(harness.signing, own.caller, { kids: [own.kid] })).outcome, "nothing");
  });

  const waiter = (id: string) => ({ id, ms: 8 * SECOND });
  const join = (joinKeyHash: string, id: string) =>
    joinRequest(harness.signing, {
      orgId: harness.orgId,
      applicationId: harness.applicationId,
      joinKeyHash,
      waiter: waiter(id),
    });

  test("one caller joins a request without a waiter", async () => {
    const requestId = await steps.create({ joinKeyHash: "k1", waiter: waiter("a") });
    assert.equal(await join("k1", "b"), undefined);
    await removeWaiter(harness.database.query, { orgId: harness.orgId, requestId }, "b");
    assert.equal(await join("k1", "b"), undefined, "another one's leaving");
    await removeWaiter(harness.database.query, { orgId: harness.orgId, requestId }, "a");
    assert.equal(await join("k2", "b"), undefined);
    const joined = await Promise.all(["b", "c", "d"].map((id) => join("k1", id)));
    assert.deepEqual(
      joined.filter((one) => one !== undefined),
      [{ requestId }],
    );
    const winner = ["b", "c", "d"][joined.findIndex((one) => one !== undefined)] ?? "";
    await steps.sign(await steps.claimed(requestId));
    assert.equal(await steps.release(requestId, "a"), undefined, "it waits no more");
    assert.ok(await steps.release(requestId, winner));
    assert.equal(await join("k1", "e"), undefined);
  });

  test("joins a request after its waiter timed out, also when it is signed", async () => {
    const requestId = await steps.create({ joinKeyHash: "k3", waiter: waiter("a") });
    await steps.sign(await steps.claimed(requestId));
    assert.equal(await join("k3", "b"), undefined);
    clock.advance(8 * SECOND);
    assert.deepEqual(await join("k3", "b"), { requestId });
    assert.ok(await steps.release(requestId, "b"));
  });

  test("the continuation is taken once, when the request is final", async () => {
    const continuation = { redirect: "https://app.example/callback" };
    const requestId = await steps.create({ ...withBrowser, continuation });
    const which = { orgId: harness.orgId, requestId };
    const take = () => takeContinuation(harness.signing, harness.database.query, which);
    assert.equal(await take(), undefined);
    assert.equal(JSON.stringify(await steps.rowOf(requestId)).includes("app.example"), false, "sealed");
    await steps.sign(await steps.claimed(requestId));
    const taken = await Promise.all([take(), take(), take()]);
    assert.deepEqual(
      taken.filter((one) => one !== undefined),
      [{ continuation, state: "signed" }],
    );
  });
});
