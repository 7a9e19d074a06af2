import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { asAnotherRequest } from "../../db/transaction-scope.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { isStatementBlocked } from "../../testing/probes/blocked-statements.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { grantUserConsent } from "../consents/consents.store.ts";
import {
  createPreauthorization,
  deletePreauthorization,
  grantOrganisationConsent,
  revokeConsent,
} from "../consents/consents.ts";
import { insertSession, markSessionsEnded } from "../sessions/sessions.store.ts";
import type { TokenFamily } from "../tokens/token-family.ts";
import { findTokenFamily, insertTokenFamily, revokeTokenFamilies } from "../tokens/tokens.store.ts";
import { type AuthorizationCode, CODE_LIFETIME_MS, newCode } from "./authorization-code.ts";
import { findCode, insertCode, lockSessionAndConsent, markCodeUsed } from "./codes.store.ts";

const NOW = 1_000_000;
const authentication = { authTime: NOW, amr: ["pwd"], acr: "x" };

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let base: Pick<AuthorizationCode, "orgId" | "applicationId" | "userId">;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    base = { orgId: org.organisation.id, applicationId: org.web.application.id, userId: org.user.id };
  });
  after(() => running.close());
  const db = () => running.service.database.query;

  let count = 0;
  const newSession = async () => {
    const id = `session ${count++}`;
    const times = { authTime: NOW, createdAt: NOW, lastSeenAt: NOW, expiresAt: NOW + 1_000 };
    const { orgId, userId } = base;
    const signIn = { amr: ["pwd"], acr: "x", address: "", userAgent: "" };
    await insertSession(db(), { orgId, userId, id, tokenHash: id, ...signIn, ...times });
    return id;
  };
  const newStoredCode = async (more: Partial<AuthorizationCode> = {}): Promise<AuthorizationCode> => {
    const code: AuthorizationCode = {
      ...base,
      codeHash: newCode().hash,
      sessionId: await newSession(),
      consentId: null,
      redirectUri: "https://app.example/callback",
      scopes: ["openid", "email"],
      definitions: { mail: "an id" },
      resources: ["urn:a"],
      authorizationDetails: [{ type: "payment", amount: { value: "1" } }],
      codeChallenge: null,
      nonce: null,
      requestedClaims: {
        userinfo: { name: { essential: true, values: ["x"] } },
        idToken: { email: { essential: false, values: ["a@b.example"] } },
      },
      authentication,
      createdAt: NOW,
      expiresAt: NOW + CODE_LIFETIME_MS,
      usedAt: null,
      familyId: null,
      signing: null,
      dpopJkt: null,
      ...more,
    };
    await insertCode(db(), code);
    return code;
  };
  const use = ({ orgId, codeHash }: AuthorizationCode, now = NOW, familyId = "f") =>
    markCodeUsed(db(), { orgId, codeHash, familyId, now });

  test("finds a code as it was stored, in its own organisation only", async () => {
    const code = await newStoredCode();
    assert.deepEqual(await findCode(db(), code.orgId, code.codeHash), code);
    assert.equal(await findCode(db(), base.userId, code.codeHash), undefined);
    assert.equal(await findCode(db(), code.orgId, newCode().hash), undefined);
  });

  test("marks a code used once, and not after its expiry", async () => {
    const code = await newStoredCode();
    const uses = await Promise.all(
      Array.from({ length: 50 }, (_, index) => use(code, NOW, `family ${index}`)),
    );
    assert.equal(uses.filter(Boolean).length, 1);
    const used = await findCode(db(), code.orgId, code.codeHash);
    assert.equal(used?.familyId, `family ${uses.indexOf(true)}`);
    assert.equal(used?.usedAt, NOW);
    const late = await newStoredCode();
    assert.equal(await use(late, late.expiresAt), false);
    assert.equal(await use(late, late.expiresAt - 1), true);
    assert.equal(await use({ ...late, orgId: base.userId }), false);
  });

  test("locks session and consent while both are active", async () => {
    const plain = await newStoredCode();
    assert.equal(await lockSessionAndConsent(db(), plain), true);
    await markSessionsEnded(db(), {
      orgId: base.orgId,
      userId: base.userId,
      sessionId: plain.sessionId,
      now: NOW,
    });
    assert.equal(await lockSessionAndConsent(db(), plain), false);
    const consentId = await grantUserConsent(db(), {
      ...base,
      scopes: ["openid"],
      fingerprints: {},
      definitions: {},
      now: NOW,
    });
    const consented = await newStoredCode({ consentId });
    assert.equal(await lockSessionAndConsent(db(), consented), true);
    await db().updateTable("consent").set({ revoked_at: NOW }).where("id", "=", consentId).execute();
    assert.equal(await lockSessionAndConsent(db(), consented), false);
    assert.equal(await lockSessionAndConsent(db(), { ...consented, consentId: "unknown" }), false);
    assert.equal(
      await lockSessionAndConsent(db(), { ...(await newStoredCode()), sessionId: "unknown" }),
      false,
    );
    assert.equal(
      await lockSessionAndConsent(db(), { ...(await newStoredCode()), orgId: base.userId }),
      false,
    );
  });

  test("revokes the new family when a sign-out races with a redemption", async () => {
    const { database } = running.service;
    for (let round = 0; round < 10; round++) {
      const code = await newStoredCode();
      const id = `redeemed ${round}`;
      let signOut: Promise<number> | undefined;
      await database.transaction(async (tx) => {
        assert.equal(await lockSessionAndConsent(tx, code), true);
        signOut = asAnotherRequest(() =>
          database.transaction(async (other) => {
            await markSessionsEnded(other, {
              orgId: base.orgId,
              userId: base.userId,
              sessionId: code.sessionId,
              now: NOW,
            });
            const which = { orgId: base.orgId, sessionId: code.sessionId, now: NOW, reason: "signed_out" };
            return revokeTokenFamilies(other, which);
          }),
        );
        await otherWaits();
        await insertTokenFamily(tx, family(code, id));
      });
      assert.equal(await signOut, 1);
    }
  });

  test("revokes the new family when a consent revocation races with a redemption", async () => {
    const { database } = running.service;
    const deps = { database, clock: () => NOW };
    const application = org.web.application;
    const grant = { application, scopes: ["openid"], actor: "test" };
    const kinds = {
      user: async () =>
        grantUserConsent(db(), { ...base, scopes: ["openid"], fingerprints: {}, definitions: {}, now: NOW }),
      organisation: () => grantOrganisationConsent(deps, grant),
      preauthorization: async () => (await createPreauthorization(deps, grant)).id,
    };
    for (const [kind, make] of Object.entries(kinds)) {
      const takeBack = kind === "preauthorization" ? deletePreauthorization : revokeConsent;
      for (let round = 0; round < 3; round++) {
        const code = await newStoredCode({ consentId: await make() });
        const id = `${kind} ${round}`;
        let taken: Promise<boolean> | undefined;
        await database.transaction(async (tx) => {
          assert.equal(await lockSessionAndConsent(tx, code), true, kind);
          const consent = { orgId: base.orgId, id: code.consentId ?? "", actor: "test" };
          taken = asAnotherRequest(() => takeBack(deps, consent));
          await otherWaits();
          await insertTokenFamily(tx, family(code, id));
        });
        assert.equal(await taken, true);
        assert.notEqual((await findTokenFamily(db(), base.orgId, id))?.revokedAt, null, kind);
        assert.equal(await lockSessionAndConsent(db(), code), false, kind);
      }
    }
  });

  /** SQLite has one writer anyway. */
  const otherWaits = async () => {
    const { database } = running.service;
    if (database.kind === "postgres")
      await eventually("the other waits for us", () => isStatementBlocked(database.query));
  };

  const family = (code: AuthorizationCode, id: string): TokenFamily => ({
    ...code,
    id,
    refreshHash: null,
    refreshExpiresAt: null,
    previousHash: null,
    rotatedAt: null,
    expiresAt: NOW + 1_000,
    revokedAt: null,
    deviceId: null,
    certificateThumbprint: null,
    ancestors: null,
    requestSigned: null,
  });
});
