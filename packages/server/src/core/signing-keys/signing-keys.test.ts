import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { openChangeFeed } from "../../db/change-feed.ts";
import { migrate } from "../../db/migrate.ts";
import { type Database, openDatabase } from "../../db/open.ts";
import { openStorage } from "../../modules/open-storage.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import type { Clock } from "../clock.ts";
import { createEncryption } from "../encryption/encryption.ts";
import { createOrganisation, setOrganisationStatus } from "../organisations/organisations.ts";
import { keyState, PUBLISH_AHEAD_MS } from "./signing-key.ts";

const KEY_AGE_MS = 90 * 86_400_000;

import { keyRing } from "../encryption/key-ring.ts";
import { requireReadableSigningKey, type SigningKeys, signingKeys } from "./signing-keys.ts";

forEachDatabase(({ fresh }) => {
  let database: Database;
  let changes: Awaited<ReturnType<typeof openChangeFeed>>;
  let clock: FakeClock;
  let databaseUrl: string;
  const masterKey = randomBytes(32);
  before(async () => {
    clock = fakeClock();
    databaseUrl = await fresh();
    database = openDatabase(databaseUrl, 5);
    await migrate(database);
    changes = await openChangeFeed(database);
  });
  after(async () => {
    await changes.close();
    await database.close();
  });

  const newOrganisation = async () =>
    (await createOrganisation({ clock }, database.query, { name: "Acme", actor: "test" })).id;
  /** A node's keys, and how many private keys it has made. */
  const node = (its: Clock = clock, heard = changes): SigningKeys & { made(): number } => {
    const encryption = createEncryption(keyRing(masterKey));
    let made = 0;
    const counting = {
      ...encryption,
      seal: (plaintext: Uint8Array, row: string) => {
        made++;
        return encryption.seal(plaintext, row);
      },
    };
    const keys = signingKeys({
      database,
      changes: heard,
      clock: its,
      encryption: counting,
      rotationDays: 90,
    });
    return { ...keys, made: () => made };
  };
  const rotation = { actor: "test", compromised: false };

  test("creates one key of each algorithm for a hundred concurrent first requests", async () => {
    const [keys, orgId] = [node(), await newOrganisation()];
    const published = await Promise.all(Array.from({ length: 100 }, () => keys.published(orgId)));
    assert.equal(keys.made(), 2);
    assert.equal(new Set(published.flat().map(({ kid }) => kid)).size, 2);
    await Promise.all(Array.from({ length: 50 }, () => keys.signer(orgId, "PS256")));
    assert.equal(keys.made(), 3);
    const algorithms = (await keys.published(orgId)).map(({ alg }) => alg);
    assert.deepEqual(algorithms.sort(), ["ES256", "PS256", "RS256"], "the others only on demand");
  });

  test("finds the first key though a read came between its publication and its commit", async () => {
    const orgId = await newOrganisation();
    const between: Promise<unknown>[] = [];
    const publish: typeof changes.publish = async (db, change) => {
      await changes.publish(db, change);
      between.push(keys.signer(orgId, "ES256"));
      // PostgreSQL answers the question now, with what is committed: no key.
      await new Promise((resolve) => setTimeout(resolve, 50));
    };
    // Its own news do not come back to it: they would, but later than the answer.
    const keys = node(clock, { ...changes, publish, subscribe: () => {} });
    const first = await keys.signer(orgId, "ES256");
    for (const one of await Promise.all(between)) assert.equal((one as { kid: string }).kid, first.kid);
  });

  test("signs with a new key on a node whose clock is behind, and with a compromised key on none", async () => {
    const orgId = await newOrganisation();
    const behind = node(() => clock() - 60_000);
    const [ahead] = [node()];
    const first = await ahead.signer(orgId, "ES256");
    assert.equal((await behind.signer(orgId, "ES256")).kid, first.kid);
    assert.equal(behind.made(), 0);
    const next = await ahead.rotate(orgId, "ES256", { ...rotation, compromised: true });
    for (const keys of [ahead, behind]) {
      assert.equal((await keys.signer(orgId, "ES256")).kid, next.kid);
      assert.ok(!(await keys.published(orgId)).some(({ kid }) => kid === first.kid));
    }
    assert.equal(behind.made(), 0);
  });

  test("performs one of two concurrent rotations, and reports the conflict of the other", async () => {
    const [keys, orgId] = [node(), await newOrganisation()];
    await keys.signer(orgId, "ES256");
    const results = await Promise.allSettled([1, 2].map(() => keys.rotate(orgId, "ES256", rotation)));
    // On PostgreSQL they may really meet: then the second finds its place taken.
    const refusals = results.flatMap((result) =>
      result.status === "rejected" ? [String(result.reason)] : [],
    );
    assert.ok(refusals.length < 2);
    for (const refusal of refusals) assert.match(refusal, /the key was rotated by another/);
    const living = (await keys.published(orgId)).filter(
      ({ alg, retireAt }) => alg === "ES256" && retireAt === null,
    );
    assert.equal(living.length, 1);
    clock.advance(PUBLISH_AHEAD_MS);
    const signer = await keys.signer(orgId, "ES256");
    assert.ok((await keys.published(orgId)).some(({ kid }) => kid === signer.kid));
  });

  test("creates a key that signs immediately when an unused algorithm is rotated", async () => {
    const [keys, orgId] = [node(), await newOrganisation()];
    const { kid } = await keys.rotate(orgId, "EdDSA", rotation);
    assert.equal((await keys.signer(orgId, "EdDSA")).kid, kid);
  });

  test("rotates a key after ninety days with overlap, unless its organisation is disabled", async () => {
    const keys = node();
    await keys.rotateDue(1_000);
    clock.advance(2 * KEY_AGE_MS);
    await keys.rotateDue(1_000);
    const [orgId, shut] = [await newOrganisation(), await newOrganisation()];
    for (const one of [orgId, shut]) await keys.published(one);
    const deps = { database, changes, clock };
    await setOrganisationStatus(deps, { orgId: shut, disabled: true, actor: "test" });
    clock.advance(KEY_AGE_MS - 1);
    assert.equal(await keys.rotateDue(1_000), 0);
    clock.advance(1);
    const before = await keys.signer(orgId, "ES256");
    assert.equal(await keys.rotateDue(1), 1, "at most as many as asked");
    await keys.rotateDue(1_000);
    assert.equal(await keys.rotateDue(1_000), 0);
    const states = (await keys.published(orgId)).map(
      (key, _index, all) => `${key.alg} ${keyState(key, all, clock())}`,
    );
    assert.deepEqual(states.sort(), ["ES256 active", "ES256 next", "RS256 active", "RS256 next"]);
    assert.equal((await keys.signer(orgId, "ES256")).kid, before.kid);
    assert.equal((await keys.published(shut)).length, 2);
  });

  test("rotates other organisations' keys when one fails, and reports the failure", async () => {
    const keys = node();
    await keys.rotateDue(1_000);
    const [broken, orgId] = [await newOrganisation(), await newOrganisation()];
    await keys.signer(broken, "ES256");
    clock.advance(1_000);
    const before = await keys.signer(orgId, "ES256");
    await sql`update signing_key set alg = 'XX256' where org_id = ${broken}`.execute(database.query);
    clock.advance(KEY_AGE_MS);
    await assert.rejects(keys.rotateDue(1_000));
    clock.advance(PUBLISH_AHEAD_MS);
    assert.notEqual((await keys.signer(orgId, "ES256")).kid, before.kid);
    await sql`delete from signing_key where org_id = ${broken}`.execute(database.query);
  });

  test("replaces a key that a clock far ahead has created", async () => {
    const [keys, orgId] = [node(), await newOrganisation()];
    const first = await keys.signer(orgId, "ES256");
    const YEAR_MS = 365 * 86_400_000;
    const ahead = await node(() => clock() + YEAR_MS).rotate(orgId, "ES256", rotation);
    await keys.rotateDue(1_000);
    clock.advance(PUBLISH_AHEAD_MS);
    const signer = await keys.signer(orgId, "ES256");
    assert.ok(signer.kid !== first.kid && signer.kid !== ahead.kid);
    assert.ok((await keys.published(orgId)).some(({ kid }) => kid === first.kid));
    clock.advance(2 * 86_400_000);
    const left = (await keys.published(orgId)).filter(({ alg }) => alg === "ES256");
    assert.deepEqual(
      left.map(({ kid }) => kid),
      [signer.kid],
    );
    assert.equal(await keys.rotateDue(1_000), 0);
  });

  test("stores a private key sealed to its organisation, key id and master key", async () => {
    const [keys, orgId] = [node(), await newOrganisation()];
    const { kid, privateKey } = await keys.signer(orgId, "ES256");
    await keys.signer(orgId, "EdDSA");
    const stored = await sql<{ private_key: string }>`select private_key from signing_key
      where org_id = ${orgId} and kid = ${kid}`.execute(database.query);
    const text = stored.rows[0]?.private_key ?? "";
    assert.match(text, /^v1\./);
    const der = privateKey.export({ format: "der", type: "pkcs8" });
    for (const encoding of ["base64url", "base64", "hex"] as const)
      assert.ok(!text.includes(der.toString(encoding)));
    await requireReadableSigningKey(database.query, createEncryption(keyRing(masterKey)));
    await assert.rejects(
      requireReadableSigningKey(database.query, createEncryption(keyRing(randomBytes(32)))),
      /the master key is not the one/,
    );
    // These organisations have no device CA, whose key would be found out as well.
    assert.deepEqual(await database.query.selectFrom("device_ca").selectAll().execute(), []);
    await assert.rejects(
      openStorage({ databaseUrl, databasePoolSize: 1 }, createEncryption(keyRing(randomBytes(32))), {}),
      /the master key is not the one/,
    );
    const other = await newOrganisation();
    await sql`insert into signing_key select ${other}, kid, alg, public_jwk, private_key, created_at, active_from, retire_at
      from signing_key where org_id = ${orgId} and kid = ${kid}`.execute(database.query);
    await assert.rejects(node().signer(other, "ES256"), "moved to another organisation it does not open");
  });
});
