import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Database } from "../../db/open.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import type { ScopeFingerprints } from "../scopes/custom-scope.ts";
import { findConsents, grantUserConsent } from "./consents.store.ts";

const NOW = 1_800_000_000_000;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let database: Database;
  let org: TestOrganisation;
  let otherOrg: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    database = running.service.database;
    org = await makeOrganisation(running.service);
    otherOrg = await makeOrganisation(running.service, "Other");
  });
  after(() => running.close());

  interface Granted {
    readonly at?: TestOrganisation;
    readonly applicationId?: string;
    readonly userId?: string;
    readonly fingerprints?: ScopeFingerprints;
    readonly now?: number;
  }
  const key = ({ at = org, applicationId, userId = "uma" }: Granted) => ({
    orgId: at.organisation.id,
    applicationId: applicationId ?? at.web.application.id,
    userId,
  });
  const grant = (scopes: readonly string[], granted: Granted = {}) =>
    database.transaction((tx) =>
      grantUserConsent(tx, {
        ...key(granted),
        scopes,
        fingerprints: granted.fingerprints ?? {},
        definitions: {},
        now: granted.now ?? NOW,
      }),
    );
  const find = (granted: Granted = {}) => findConsents(database.query, key(granted));

  test("a second consent is added to the same record", async () => {
    const id = await grant(["openid", "email"]);
    assert.equal(await grant(["email", "phone"], { now: NOW + 1 }), id);
    const [consent, ...others] = await find();
    assert.deepEqual(consent, {
      orgId: org.organisation.id,
      id,
      kind: "user",
      applicationId: org.web.application.id,
      userId: "uma",
      scopes: ["openid", "email", "phone"],
      fingerprints: {},
      grantedBy: "user:uma",
      grantedAt: NOW + 1,
      createdAt: NOW,
      revokedAt: null,
    });
    assert.equal(others.length, 0);
  });

  test("thirty concurrent consents end in one record with all scopes", async () => {
    const scopes = Array.from({ length: 30 }, (_, at) => `scope-${at}`);
    const ids = await Promise.all(scopes.map((scope) => grant([scope], { userId: "busy" })));
    assert.equal(new Set(ids).size, 1);
    const [consent, ...others] = await find({ userId: "busy" });
    assert.deepEqual([...(consent?.scopes ?? [])].sort(), scopes.sort());
    assert.equal(others.length, 0);
  });

  test("a consent applies to its user, application and organisation only", async () => {
    await grant(["openid"], { userId: "alone" });
    for (const other of [
      { userId: "otto" },
      { userId: "alone", applicationId: org.native.id },
      { userId: "alone", at: otherOrg },
      { userId: "alone", at: otherOrg, applicationId: org.web.application.id },
    ])
      assert.deepEqual(await find(other), [], other.userId);
  });

  test("a revoked consent is not found, and a new one doesn't restore its scopes", async () => {
    const id = await grant(["openid", "email"], { userId: "careful" });
    await database.query.updateTable("consent").set({ revoked_at: NOW }).where("id", "=", id).execute();
    assert.deepEqual(await find({ userId: "careful" }), []);
    assert.notEqual(await grant(["openid"], { userId: "careful" }), id);
    assert.deepEqual(
      (await find({ userId: "careful" })).map(({ scopes }) => scopes),
      [["openid"]],
    );
  });

  test("organisation-wide consent applies to every user", async () => {
    const id = await grant(["openid"], { userId: "someone", applicationId: org.native.id });
    await database.query
      .updateTable("consent")
      .set({ kind: "organisation", user_id: null })
      .where("id", "=", id)
      .execute();
    assert.deepEqual(
      (await find({ applicationId: org.native.id, userId: "anyone" })).map(({ kind }) => kind),
      ["organisation"],
    );
    await grant(["email"], { applicationId: org.native.id, userId: "anyone" });
    assert.equal((await find({ applicationId: org.native.id, userId: "anyone" })).length, 2);
  });

  test("the scopes' claims are recorded, and a new consent records the current ones", async () => {
    const who = { userId: "thorough" };
    await grant(["hr", "pay"], { ...who, fingerprints: { hr: ["role"], pay: ["grade"] } });
    await grant(["hr"], { ...who, fingerprints: { hr: ["team"] } });
    assert.deepEqual((await find(who))[0]?.fingerprints, { hr: ["team"], pay: ["grade"] });
  });
});
