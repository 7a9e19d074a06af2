import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { type LogoutReceiver, startLogoutReceiver } from "../../testing/fakes/logout-receiver.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import type { ApplicationSettings } from "../applications/application.ts";
import { setApplicationStatus } from "../applications/applications.ts";
import { listAuditEvents } from "../audit/audit.store.ts";
import { setOrganisationStatus } from "../organisations/organisations.ts";
import { outbound } from "../outbound/outbound.ts";
import { findDueRows } from "../outbox/due-rows.store.ts";
import { endSessions } from "../sessions/end-sessions.ts";
import { recordSessionUse } from "../sessions/sessions.store.ts";
import { signIn } from "../sessions/sessions.ts";
import { findUser } from "../users/users.store.ts";
import { logoutDeliveries } from "./backchannel-logout.store.ts";
import { deliverDueLogouts, startLogoutDelivery } from "./delivery.ts";

const EVENT = "http://schemas.openid.net/event/backchannel-logout";
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

forEachDatabase(({ name, fresh }) => {
  let databaseUrl: string;
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let receiver: LogoutReceiver;
  const ALLOWED = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
  before(async () => {
    clock = fakeClock();
    receiver = await startLogoutReceiver();
    databaseUrl = await fresh();
    running = await startTestService({ databaseUrl, clock, env: ALLOWED });
    org = await makeOrganisation(running.service);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
    await receiver.close();
  });

  const worker = (node = running) => ({ ...node.service, baseUrl: running.baseUrl });
  const deliver = (node = running) => deliverDueLogouts(worker(node));
  /** Rounds until nothing is due: what other tests left counts for the organisation's share too. */
  const deliverAll = async () => {
    while ((await deliver()) > 0);
  };
  const db = () => running.service.database.query;

  let paths = 0;
  /** An application that is told at a path of its own. */
  async function toldApplication(settings: Partial<ApplicationSettings> = {}, at = org) {
    const path = `/logout-${paths++}`;
    const backchannelLogoutUri = receiver.uri(path);
    const { application } = await makeClient(running.service, at.organisation, {
      backchannelLogoutUri,
      ...settings,
    });
    return { path, application };
  }

  /** Sessions of the test's user that these applications got tokens from, and their end. @returns their ids */
  async function endOf(applications: ReadonlyArray<{ application: { id: string } }>, count = 1, at = org) {
    const orgId = at.organisation.id;
    const user = await findUser(db(), orgId, at.user.id);
    if (!user) throw new Error("no such user");
    const ended: string[] = [];
    for (let made = 0; made < count; made++) {
      const { session } = await signIn(running.service, {
        organisation: at.organisation,
        user,
        amr: ["pwd"],
        acr: "urn:signet:acr:pwd",
        address: "192.0.2.1",
        userAgent: "test",
        before: undefined,
      });
      for (const { application } of applications) {
        const use = { orgId, sessionId: session.id, applicationId: application.id, now: clock() };
        await recordSessionUse(db(), use);
      }
      const end = {
        orgId,
        userId: user.id,
        sessionId: session.id,
        reason: "signed_out",
        now: clock(),
      } as const;
      await running.service.database.transaction((tx) => endSessions(tx, end));
      ended.push(session.id);
    }
    return ended;
  }

  const rowsOf = (application: { id: string }) =>
    db().selectFrom("logout_delivery").selectAll().where("application_id", "=", application.id).execute();
  const rowOf = async (application: { id: string }) => {
    const [row, ...more] = await rowsOf(application);
    assert.ok(row && more.length === 0);
    return row;
  };

  test("posts a form with a logout token of the defined claims and type", async () => {
    const told = await toldApplication();
    const [sid] = await endOf([told]);
    assert.equal(await deliver(), 1);
    const [message, ...more] = receiver.at(told.path);
    assert.ok(message && more.length === 0);
    assert.equal(message.contentType, "application/x-www-form-urlencoded");
    assert.deepEqual([...message.body.keys()], ["logout_token"]);
    const keys = createRemoteJWKSet(new URL(`${org.issuer}/.well-known/jwks.json`));
    const { payload, protectedHeader } = await jwtVerify(message.token, keys, {
      issuer: org.issuer,
      audience: told.application.id,
      subject: org.user.id,
      typ: "logout+jwt",
    });
    assert.equal(Object.keys(payload).sort().join(" "), "aud events exp iat iss jti sid sub");
    assert.deepEqual(payload["events"], { [EVENT]: {} });
    assert.equal(payload["sid"], sid);
    assert.equal(payload.iat, Math.floor(clock() / 1000));
    assert.equal(payload.exp, (payload.iat ?? 0) + 120);
    assert.match(String(payload.jti), /^.{20,}$/);
    assert.deepEqual([protectedHeader.typ, protectedHeader.alg], ["logout+jwt", "ES256"]);
    assert.equal((await rowOf(told.application)).delivered_at, clock());
    assert.equal(await deliver(), 0);
  });

  test("signs the logout token with the algorithm of the application's ID tokens", async () => {
    const keys = createRemoteJWKSet(new URL(`${org.issuer}/.well-known/jwks.json`));
    const all = [];
    for (const alg of ["RS256", "PS256", "EdDSA"] as const)
      all.push({ alg, ...(await toldApplication({ idTokenSignedResponseAlg: alg })) });
    await endOf(all);
    await deliver();
    for (const { alg, path } of all) {
      const { protectedHeader } = await jwtVerify(receiver.at(path)[0]?.token ?? "", keys);
      assert.equal(protectedHeader.alg, alg);
    }
  });

  test("retries after 5 s, 30 s, 2 min, 10 min and 1 h with a new token each time, then gives up", async () => {
    const told = await toldApplication();
    receiver.answer(told.path, 503);
    await endOf([told]);
    await deliver();
    let tries = 1;
    for (const wait of [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR]) {
      assert.equal(receiver.at(told.path).length, tries);
      clock.advance(wait - 1);
      await deliver();
      assert.equal(receiver.at(told.path).length, tries, `not before ${wait}`);
      clock.advance(1);
      await deliver();
      tries++;
    }
    assert.equal(receiver.at(told.path).length, 6);
    const { failed_at, last_error } = await rowOf(told.application);
    assert.deepEqual([failed_at, last_error], [clock(), "the application responded with 503"]);
    clock.advance(HOUR);
    await deliver();
    assert.equal(receiver.at(told.path).length, 6);
    const tokens = receiver.at(told.path).map(({ token }) => decodeJwt(token));
    assert.equal(new Set(tokens.map(({ jti }) => jti)).size, 6);
    assert.equal(new Set(tokens.map(({ sid }) => sid)).size, 1);
    const [event] = await listAuditEvents(db(), org.organisation.id, 1);
    assert.deepEqual(
      [event?.action, event?.actor, event?.target],
      ["backchannel-logout.failed", "system", told.application.id],
    );
  });

  test("delivers a pending logout once the application responds again", async () => {
    const told = await toldApplication();
    receiver.answer(told.path, 500);
    await endOf([told]);
    await deliver();
    receiver.answer(told.path, 200);
    clock.advance(5 * SECOND);
    await deliver();
    const { delivered_at, last_error, attempts } = await rowOf(told.application);
    assert.deepEqual([delivered_at, last_error, attempts], [clock(), null, 2]);
  });

  test("accepts 200 and 204 only, and follows no redirect", async () => {
    for (const [status, fine] of [
      [204, true],
      [302, false],
      [400, false],
      [201, false],
    ] as const) {
      const told = await toldApplication();
      receiver.answer(told.path, status);
      await endOf([told]);
      await deliver();
      assert.equal((await rowOf(told.application)).delivered_at !== null, fine, String(status));
    }
    assert.deepEqual(receiver.at("/elsewhere"), []);
  });

  test("never calls a forbidden address", async () => {
    const { port } = new URL(receiver.uri("/"));
    for (const host of ["localhost.localdomain", "127.0.0.2", "[::1]"]) {
      const backchannelLogoutUri = `https://${host}:${port}/inner`;
      const told = await toldApplication({ backchannelLogoutUri });
      await endOf([told]);
      await deliver();
      const { last_error, delivered_at } = await rowOf(told.application);
      assert.equal(delivered_at, null);
      assert.match(last_error ?? "", /forbidden address|could not be reached/, host);
    }
    assert.deepEqual(receiver.at("/inner"), []);
  });

  test("stops delivery to an application that is disabled or has no logout URI", async () => {
    const told = await toldApplication();
    await endOf([told]);
    const { orgId, id } = told.application;
    await setApplicationStatus(running.service, { orgId, id, disabled: true, actor: "test" });
    await deliver();
    assert.match((await rowOf(told.application)).last_error ?? "", /no longer receives/);
    const other = await makeOrganisation(running.service, "Closed");
    const there = await toldApplication({}, other);
    await endOf([there], 1, other);
    await setOrganisationStatus(running.service, {
      orgId: other.organisation.id,
      disabled: true,
      actor: "test",
    });
    await deliver();
    assert.notEqual((await rowOf(there.application)).failed_at, null);
    assert.deepEqual([...receiver.at(told.path), ...receiver.at(there.path)], []);
  });

  test("delivers to other applications while one has many logouts due", async () => {
    const [slow, quick] = [await toldApplication(), await toldApplication()];
    await endOf([slow], 20);
    await endOf([quick]);
    const due = await findDueRows(db(), logoutDeliveries, {
      now: clock(),
      limits: { organisation: 12, queue: 4 },
    });
    const dueIds = new Set(due.map(({ id }) => id));
    const dueOf = async ({ application }: typeof slow) =>
      (await rowsOf(application)).filter(({ id }) => dueIds.has(id)).length;
    assert.deepEqual([await dueOf(slow), await dueOf(quick)], [4, 1]);
    while ((await deliver()) > 0);
    assert.equal(receiver.at(slow.path).length, 20);
  });

  test("leaves the delivery of a dead node to the next one", async () => {
    const told = await toldApplication();
    await endOf([told]);
    const dying = { ...worker(), outbound: { call: () => new Promise<never>(() => {}) } };
    void deliverDueLogouts(dying);
    await eventually("taken", async () => (await rowOf(told.application)).attempts === 1);
    // Nobody takes it from a node that may still be at work.
    clock.advance(14 * SECOND);
    await deliver();
    assert.equal(receiver.at(told.path).length, 0);
    clock.advance(SECOND);
    await deliver();
    assert.equal(receiver.at(told.path).length, 1);
    const { delivered_at, attempts } = await rowOf(told.application);
    assert.deepEqual([delivered_at, attempts], [clock(), 2]);
  });

  test("counts an attempt before it is made: one that ends the process each time is given up like one that fails", async () => {
    const told = await toldApplication();
    await endOf([told]);
    const dying = { ...worker(), outbound: { call: () => new Promise<never>(() => {}) } };
    const attempts = async () => (await rowOf(told.application)).attempts;
    for (const [made, wait] of [
      15 * SECOND,
      30 * SECOND,
      2 * MINUTE,
      10 * MINUTE,
      HOUR,
      15 * SECOND,
    ].entries()) {
      void deliverDueLogouts(dying);
      await eventually(`attempt ${made + 1}`, async () => (await attempts()) === made + 1);
      clock.advance(wait - 1);
      await deliverAll();
      assert.equal(await attempts(), made + 1, `not before ${wait}`);
      clock.advance(1);
    }
    await deliverAll();
    const { failed_at, last_error } = await rowOf(told.application);
    assert.deepEqual([failed_at, last_error], [clock(), "the last attempt was interrupted"]);
    assert.deepEqual(receiver.at(told.path), []);
  });

  test("one organisation's slow applications delay its own logouts, and no other organisation's", async (context) => {
    context.mock.timers.enable({ apis: ["setInterval"] });
    const slow = await Promise.all(Array.from({ length: 5 }, () => toldApplication()));
    for (const { path } of slow) receiver.answer(path, "hang");
    await endOf(slow, 60);
    const other = await makeOrganisation(running.service, "Neighbour");
    const quick = await toldApplication({}, other);
    // Longer than the test takes on any machine: a call that ends makes room for the next.
    const patient = outbound({ allow: ["127.0.0.0/8"], timeoutMs: HOUR });
    const stop = startLogoutDelivery({
      ...worker(),
      outbound: patient,
      onError: (e) => running.errors.push(e),
    });
    const slowCalls = () => slow.reduce((sum, { path }) => sum + receiver.at(path).length, 0);
    const slowAttempts = async () =>
      (await Promise.all(slow.map(({ application }) => rowsOf(application))))
        .flat()
        .filter(({ attempts }) => attempts > 0);
    context.mock.timers.tick(1_000);
    await eventually("its share is under way", () => slowCalls() === 12);
    // More rounds take no more of it.
    for (let round = 0; round < 8; round++) context.mock.timers.tick(1_000);
    await endOf([quick], 30, other);
    await eventually("all of the neighbour's are told", async () => {
      context.mock.timers.tick(1_000);
      return receiver.at(quick.path).length === 30;
    });
    assert.equal((await slowAttempts()).length, 12);
    for (const { application } of slow) {
      const { orgId, id } = application;
      await setApplicationStatus(running.service, { orgId, id, disabled: true, actor: "test" });
    }
    for (const { path } of slow) receiver.answer(path, 200);
    await stop();
    await deliverAll();
  });

  test("keeps pending deliveries across a restart", async () => {
    const told = await toldApplication();
    receiver.answer(told.path, 503);
    await endOf([told], 2);
    await deliverAll();
    await running.close();
    running = await startTestService({
      databaseUrl,
      clock,
      env: ALLOWED,
      baseUrl: org.issuer.split("/oauth/")[0] ?? "",
    });
    receiver.answer(told.path, 200);
    clock.advance(5 * SECOND);
    await deliverAll();
    assert.equal(receiver.at(told.path).length, 4);
    assert.ok((await rowsOf(told.application)).every(({ delivered_at }) => delivered_at !== null));
  });

  if (name === "postgres")
    test("delivers every logout once across two nodes", async () => {
      const second = await startTestService({ databaseUrl, clock, env: ALLOWED, baseUrl: running.baseUrl });
      try {
        const all = [await toldApplication(), await toldApplication(), await toldApplication()];
        await endOf(all, 10);
        const rounds = Array.from({ length: 12 }, (_, at) => deliver(at % 2 === 0 ? running : second));
        await Promise.all(rounds);
        while ((await deliver()) + (await deliver(second)) > 0);
        const tokens = all.flatMap(({ path }) => receiver.at(path)).map(({ token }) => decodeJwt(token));
        assert.equal(tokens.length, 30);
        assert.equal(new Set(tokens.map(({ sid, aud }) => `${sid} ${aud}`)).size, 30);
        for (const { application } of all)
          assert.ok((await rowsOf(application)).every(({ attempts }) => attempts === 1));
      } finally {
        await second.close();
      }
    });

  test("delivers every second, again while more is due, and stops on request", async (context) => {
    context.mock.timers.enable({ apis: ["setInterval"] });
    const told = await toldApplication();
    await endOf([told], 8);
    const stop = startLogoutDelivery({ ...worker(), onError: (error) => running.errors.push(error) });
    assert.equal(receiver.at(told.path).length, 0);
    context.mock.timers.tick(1_000);
    await eventually("all told", () => receiver.at(told.path).length === 8);
    await stop();
    await endOf([told]);
    context.mock.timers.tick(5_000);
    assert.equal((await rowsOf(told.application)).filter(({ attempts }) => attempts === 0).length, 1);
    await deliver();
  });
});
