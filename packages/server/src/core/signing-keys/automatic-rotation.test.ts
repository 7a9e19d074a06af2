/** Keys that grow old are replaced without anybody asking, and no reader of the JWKS is ever surprised. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { decodeProtectedHeader, importJWK, type JWK, jwtVerify } from "jose";
import { forEachDatabase } from "../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { credentials, postForm } from "../../testing/fixtures/client.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { listAuditEvents } from "../audit/audit.store.ts";
import { runRound } from "../housekeeping/housekeeping.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({
      databaseUrl: await fresh(),
      clock,
      env: { SIGNET_KEY_ROTATION_DAYS: "30" },
    });
    org = await makeOrganisation(running.service);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const round = (holder = "a", node = running) => runRound(node.service, holder);
  const jwks = async () =>
    ((await (await fetch(`${org.issuer}/.well-known/jwks.json?at=${clock()}`)).json()) as { keys: JWK[] })
      .keys;
  const es256 = async () => (await jwks()).filter(({ alg }) => alg === "ES256").map(({ kid }) => kid);
  const token = async () => {
    const form = { grant_type: "client_credentials", ...credentials(org.batch) };
    return String((await postForm(`${org.issuer}/token`, form)).body["access_token"]);
  };
  /** Verified by a reader who knows no more than the JWKS of this moment. */
  const verifies = async (jwt: string) => {
    const { kid } = decodeProtectedHeader(jwt);
    const jwk = (await jwks()).find((key) => key.kid === kid);
    if (!jwk) return false;
    await jwtVerify(jwt, await importJWK(jwk, jwk.alg), { currentDate: new Date(clock()) });
    return true;
  };
  const kidOf = (jwt: string) => decodeProtectedHeader(jwt).kid;

  test("after the days that are configured: the new key is published, then signs, then the old one leaves", async () => {
    const first = kidOf(await token());
    await jwks();
    clock.advance(30 * DAY - 1);
    await round();
    assert.deepEqual(await es256(), [first], "not a millisecond too early");
    clock.advance(1);
    await round();
    const [, next, ...more] = await es256();
    assert.ok(next !== undefined && more.length === 0);
    // Whoever read the JWKS just before may keep it for five minutes: until then the old key signs.
    assert.equal(kidOf(await token()), first);
    clock.advance(10 * MINUTE - 1);
    const last = await token();
    assert.equal(kidOf(last), first);
    clock.advance(1);
    assert.equal(kidOf(await token()), next);
    assert.ok(await verifies(last), "what the old key signed last");
    clock.advance(DAY);
    assert.deepEqual(await es256(), [first, next]);
    clock.advance(5 * MINUTE);
    assert.deepEqual(await es256(), [next]);
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 20);
    const rotated = events.filter(({ action }) => action === "signing-key.rotated");
    assert.deepEqual(new Set(rotated.map(({ actor }) => actor)), new Set(["system"]));
    assert.deepEqual(rotated.map(({ details }) => details?.["alg"]).sort(), ["ES256", "RS256"]);
  });

  test("one node does it, once", async () => {
    clock.advance(31 * DAY);
    const before = (await es256()).length;
    const done = await Promise.all([round("a"), round("b"), round("a"), round("b")]);
    assert.ok(done.includes(true) && done.includes(false));
    await round("a");
    assert.equal((await es256()).length, before + 1);
  });

  test("with 0 days no key is ever replaced by itself", async () => {
    const off = await startTestService({
      databaseUrl: await fresh(),
      clock,
      env: { SIGNET_KEY_ROTATION_DAYS: "0" },
    });
    try {
      const other = await makeOrganisation(off.service);
      const before = await off.service.keys.published(other.organisation.id);
      clock.advance(10_000 * DAY);
      await round("a", off);
      const kids = (await off.service.keys.published(other.organisation.id)).map(({ kid }) => kid);
      assert.deepEqual(
        kids,
        before.map(({ kid }) => kid),
      );
    } finally {
      await off.close();
    }
  });
});
