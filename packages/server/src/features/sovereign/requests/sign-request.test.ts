import assert from "node:assert/strict";
import { test } from "node:test";
import { agentAlgs } from "@signet/protocol/agent-signature";
import { sql } from "kysely";
import { forEachDatabase } from "../../../testing/databases.ts";
import { signingFixture } from "../../../testing/fixtures/signing-fixture.ts";
import { idTokenOf } from "../../../testing/fixtures/signing-harness.ts";
import {
  headerOf,
  payloadOf,
  releaseNow,
  SECOND,
  withBrowser,
} from "../../../testing/fixtures/signing-steps.ts";
import { renewLeases } from "../agent-api/agent-queue.ts";
import { presentedLease } from "./lease.ts";
import { storeSigned } from "./sign-request.store.ts";
import { signRequest } from "./sign-request.ts";
import { findRequest } from "./signing-request.store.ts";
import { openJson } from "./signing-request.ts";

forEachDatabase(({ fresh }) => {
  const { clock, harness, agent, other, steps } = signingFixture(fresh);

  test("access and ID token are signed together and released once", async () => {
    const { accessToken } = harness.newRequest().claims;
    assert.ok(accessToken);
    const both = { accessToken, idToken: idTokenOf(accessToken) };
    const requestId = await steps.create({ ...withBrowser, claims: both });
    const held = await steps.claimed(requestId);
    assert.deepEqual(
      held.tokens.map(({ use }) => use),
      ["access_token", "id_token"],
    );
    assert.equal(headerOf(held.tokens[1])["typ"], "JWT");
    assert.equal("at_hash" in payloadOf(held.tokens[1]), false);
    const jwts = agent.signed(held.tokens);
    const { access_token } = jwts;
    const alone = await signRequest(harness.signing, agent.caller, { ...held, jwts: { access_token } });
    assert.deepEqual(alone, { outcome: "invalid_signed_jwt", reason: "missing_token" });
    assert.equal((await signRequest(harness.signing, agent.caller, { ...held, jwts })).outcome, "signed");
    const row = await steps.rowOf(requestId);
    for (const column of ["claims", "rendering", "lease_token_hash"]) assert.equal(row[column], null);
    const released = await Promise.all(Array.from({ length: 8 }, () => steps.release(requestId)));
    const given = released.filter((one) => one !== undefined);
    const { iat, exp } = payloadOf(held.tokens[0]);
    assert.deepEqual(given, [{ accessToken: jwts.access_token, idToken: jwts.id_token, iat, exp }]);
    assert.equal((await steps.rowOf(requestId))["signed"], null);
  });

  test("a release is undone by a rollback", async () => {
    const requestId = await steps.create();
    await steps.sign(await steps.claimed(requestId));
    const failed = harness.database.transaction(async (tx) => {
      assert.ok(await releaseNow(harness.signing, tx, { orgId: harness.orgId, requestId }));
      throw new Error("the refresh token was used");
    });
    await assert.rejects(failed);
    assert.ok(await steps.release(requestId));
  });

  test("accepts every algorithm, names each invalid JWT, and fails the request at the third", async () => {
    for (const alg of agentAlgs) {
      const own = await harness.addAgent({ alg });
      assert.equal(
        (await steps.sign(await steps.claimed(await steps.create(), own), own)).outcome,
        "signed",
        alg,
      );
    }
    const held = await steps.claimed(await steps.create());
    const good = agent.signed(held.tokens).access_token;
    const submit = (access_token: unknown) =>
      signRequest(harness.signing, agent.caller, { ...held, jwts: { access_token } });
    const bad = (reason: string) => ({ outcome: "invalid_signed_jwt", reason });
    assert.deepEqual(await submit(`${good}=`), bad("bad_encoding"));
    assert.deepEqual(await submit(other.signed(held.tokens).access_token), bad("bad_signature"));
    assert.deepEqual(await submit(undefined), bad("missing_token"));
    assert.deepEqual(await steps.stateOf(held.requestId), ["failed", "bad_signatures"]);
    assert.deepEqual(await submit(good), { outcome: "already_final" });
  });

  test("counts simultaneous invalid submissions", async () => {
    const held = await steps.claimed(await steps.create());
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, () => signRequest(harness.signing, agent.caller, { ...held, jwts: {} })),
    );
    assert.equal(outcomes.filter(({ outcome }) => outcome === "invalid_signed_jwt").length, 3);
    assert.equal(outcomes.filter(({ outcome }) => outcome === "already_final").length, 3);
    assert.equal((await steps.rowOf(held.requestId))["bad_submissions"], 3);
  });

  test("a repeated submission with the signing lease succeeds without effect, also after the release", async () => {
    const requestId = await steps.create();
    const held = await steps.claimed(requestId);
    assert.equal((await steps.sign(held)).outcome, "signed");
    const before = await steps.rowOf(requestId);
    const again = agent.signed(held.tokens);
    assert.equal((await steps.sign(held)).outcome, "signed");
    assert.deepEqual(await steps.rowOf(requestId), before);
    await steps.release(requestId);
    const repeat = (jwts: { access_token?: unknown }) =>
      signRequest(harness.signing, agent.caller, { ...held, jwts });
    assert.equal((await repeat(again)).outcome, "signed");
    assert.equal((await repeat({})).outcome, "already_final");
    assert.equal(
      (await repeat({ access_token: other.signed(held.tokens).access_token })).outcome,
      "already_final",
    );
    const wrongLease = { ...held, leaseToken: "sgn_lt_other", jwts: again };
    assert.equal((await signRequest(harness.signing, agent.caller, wrongLease)).outcome, "already_final");
    assert.equal(await steps.release(requestId), undefined);
  });

  test("simultaneous submissions with one lease sign once", async () => {
    const requestId = await steps.create();
    const held = await steps.claimed(requestId);
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => steps.sign(held)));
    assert.ok(outcomes.every(({ outcome }) => outcome === "signed"));
    assert.equal((await steps.rowOf(requestId))["seq"], 3);
  });

  test("reissues a payload older than two minutes, and accepts only the new bytes", async () => {
    const requestId = await steps.create(withBrowser);
    const held = await steps.claimed(requestId);
    for (let count = 0; count < 6; count++) {
      clock.advance(20 * SECOND);
      await renewLeases(harness.signing, agent.caller, [requestId]);
    }
    assert.equal((await steps.stateOf(requestId))?.[0], "claimed");
    clock.advance(SECOND);
    const stale = await steps.sign(held);
    assert.ok(stale.outcome === "stale_payload");
    const [old, anew] = [payloadOf(held.tokens[0]), payloadOf(stale.tokens[0])];
    assert.equal(anew["iat"], Number(old["iat"]) + 121);
    assert.notEqual(anew["jti"], old["jti"]);
    assert.deepEqual({ ...anew, iat: 0, exp: 0, jti: "" }, { ...old, iat: 0, exp: 0, jti: "" });
    assert.deepEqual(await steps.sign(held), { outcome: "invalid_signed_jwt", reason: "bytes_mismatch" });
    assert.equal((await steps.sign({ ...held, tokens: stale.tokens })).outcome, "signed");
  });

  test("reissues a payload after half of a short token lifetime", async () => {
    const pool = await harness.addPool({ maxTokenLifetimeSeconds: 60 });
    const own = await harness.addAgent({ pool });
    const requestId = await steps.create({ ...withBrowser, poolId: pool.id });
    const held = await steps.claimed(requestId, own);
    for (let count = 0; count < 3; count++) {
      clock.advance(10 * SECOND);
      await renewLeases(harness.signing, own.caller, [requestId]);
    }
    clock.advance(SECOND);
    const stale = await steps.sign(held, own);
    assert.ok(stale.outcome === "stale_payload", stale.outcome);
    assert.equal(payloadOf(stale.tokens[0])["exp"], Math.floor(clock() / 1000) + 60);
    assert.equal((await steps.sign({ ...held, tokens: stale.tokens }, own)).outcome, "signed");
  });

  test("stores no unknown members of a submission", async () => {
    const requestId = await steps.create();
    const { leaseToken, tokens } = await steps.claimed(requestId);
    const signed = agent.signed(tokens);
    const jwts = { ...signed, note: "n".repeat(100) };
    assert.equal(
      (await signRequest(harness.signing, agent.caller, { requestId, leaseToken, jwts })).outcome,
      "signed",
    );
    const row = await findRequest(harness.database.query, { orgId: harness.orgId, requestId });
    const place = { orgId: harness.orgId, requestId };
    const kept = openJson<{ jwts: object }>(harness.encryption, place, "signed", row?.signed ?? null);
    assert.deepEqual(kept.jwts, signed);
  });

  test("rejects an ID token that was not requested", async () => {
    const held = await steps.claimed(await steps.create());
    const { access_token } = agent.signed(held.tokens);
    const jwts = { access_token, id_token: access_token };
    const refused = await signRequest(harness.signing, agent.caller, { ...held, jwts });
    assert.deepEqual(refused, { outcome: "invalid_signed_jwt", reason: "bytes_mismatch" });
  });

  test("the write checks rendering and key again", async () => {
    const own = await harness.addAgent();
    const held = await steps.claimed(await steps.create(), own);
    const { rendering } = await steps.rowOf(held.requestId);
    const write = (was: unknown) =>
      storeSigned(harness.database.query, {
        ...presentedLease(own.caller, held, clock()),
        rendering: String(was),
        signed: "sealed",
        inputHashes: "{}",
        tokenIds: "{}",
        tokenExp: 0,
        keptUntil: 0,
      });
    assert.equal(await write("rendered anew meanwhile"), undefined);
    const retire = (at: number | null) =>
      sql`update agent_key set retiring_at = ${at} where kid = ${own.kid}`.execute(harness.database.query);
    await retire(clock());
    assert.equal(await write(rendering), undefined);
    await retire(null);
    assert.equal(await write(rendering), clock());
  });

  test("records each signature in the audit log and the key's last token expiry", async () => {
    const requestId = await steps.create();
    const held = await steps.claimed(requestId);
    await steps.sign(held);
    const { rows } = await sql<{ actor: string; details: string }>`select actor, details from audit_event
      where target = ${requestId} and action = 'signing-request.signed'`.execute(harness.database.query);
    const { jti, exp } = payloadOf(held.tokens[0]);
    assert.equal(rows[0]?.actor, `agent:${agent.caller.agentId}`);
    const details = JSON.parse(rows[0]?.details ?? "{}") as Record<string, unknown>;
    assert.deepEqual([details["jti"], details["kid"]], [jti, agent.kid]);
    assert.ok((await lastTokenExp(agent.kid)) >= Number(exp) * 1000);
  });

  const lastTokenExp = async (kid: string): Promise<number> => {
    const { rows } = await sql<{
      at: number;
    }>`select last_token_exp as at from agent_key where kid = ${kid}`.execute(harness.database.query);
    return Number(rows[0]?.at);
  };

  test("records the last token expiry rounded up to the minute, and raises it when needed", async () => {
    const own = await harness.addAgent();
    const sign = async () => {
      const held = await steps.claimed(await steps.create(), own);
      assert.equal((await steps.sign(held, own)).outcome, "signed");
      return Number(payloadOf(held.tokens[0])["exp"]) * 1000;
    };
    const first = await sign();
    const noted = await lastTokenExp(own.kid);
    assert.ok(noted >= first && noted < first + 60_000);
    await sql`update agent_key set last_token_exp = 1 where kid = ${own.kid}`.execute(harness.database.query);
    await sign();
    assert.equal(await lastTokenExp(own.kid), 1, "this node knows that enough is written down");
    clock.advance(61 * SECOND);
    const later = await sign();
    assert.ok((await lastTokenExp(own.kid)) >= later);
  });

  test("doesn't release tokens of a compromised key", async () => {
    const own = await harness.addAgent();
    const requestId = await steps.create();
    await steps.sign(await steps.claimed(requestId, own), own);
    const compromised = (at: number | null) =>
      sql`update agent_key set compromised_at = ${at} where kid = ${own.kid}`.execute(harness.database.query);
    await compromised(clock());
    assert.equal(await steps.release(requestId), undefined);
    await compromised(null);
    assert.ok(await steps.release(requestId));
  });
});
