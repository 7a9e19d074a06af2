import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { removeExpired } from "../../../../core/housekeeping/housekeeping.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { signingFixture } from "../../../../testing/fixtures/signing-fixture.ts";
import { SECOND, withBrowser } from "../../../../testing/fixtures/signing-steps.ts";
import { answerChallenge, challengeUser } from "../challenge/challenge-user.ts";
import { signingRequestRemovals } from "../expire-requests.ts";

const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;

forEachDatabase(({ fresh }) => {
  const { clock, harness, agent, steps } = signingFixture(fresh);

  const keepHouse = () =>
    removeExpired({ database: harness.database, clock, featureRemovals: signingRequestRemovals(() => {}) });
  const count = async () =>
    (await sql`select 1 from signing_request`.execute(harness.database.query)).rows.length;

  test("housekeeping expires abandoned requests, and keeps who signed what for thirty days", async () => {
    const waiting = await steps.create({ ...withBrowser, continuation: { to: "there" } });
    const signed = await steps.create();
    await steps.sign(await steps.claimed(signed));
    const released = await steps.create();
    await steps.sign(await steps.claimed(released));
    await steps.release(released);
    await keepHouse();
    assert.equal((await steps.rowOf(waiting))["state"], "pending");
    assert.notEqual((await steps.rowOf(signed))["signed"], null);

    clock.advance(300 * SECOND);
    await keepHouse();
    const [first, second] = [await steps.rowOf(waiting), await steps.rowOf(signed)];
    assert.deepEqual([first["state"], second["state"]], ["expired", "expired"]);
    for (const column of ["claims", "rendering", "answer", "challenge", "signed"])
      assert.deepEqual([first[column], second[column]], [null, null], column);
    assert.notEqual(first["continuation"], null, "the way back to the application");

    clock.advance(HOUR + 1);
    await keepHouse();
    assert.equal((await steps.rowOf(waiting))["continuation"], null);
    const kept = await steps.rowOf(released);
    for (const column of ["kid", "claimed_by", "token_ids", "input_hashes"])
      assert.notEqual(kept[column], null, column);

    clock.advance(29 * DAY);
    await keepHouse();
    assert.equal(await count(), 3);
    clock.advance(DAY);
    await keepHouse();
    assert.equal(await count(), 0);
  });

  test("stores claims, tokens and answers encrypted", async () => {
    const { accessToken } = harness.newRequest().claims;
    assert.ok(accessToken);
    const telling = { accessToken: { ...accessToken, scope: "a-telling-scope" } };
    const requestId = await steps.create({ ...withBrowser, claims: telling, clientName: "A telling name" });
    const held = await steps.claimed(requestId);
    const asked = { challengeId: "c", type: "pin", prompt: "A telling prompt", ttl: 60 } as const;
    await challengeUser(harness.signing, agent.caller, held, asked);
    await answerChallenge(
      harness.signing,
      { orgId: harness.orgId, requestId },
      { challengeId: "c", answer: "a telling answer" },
    );
    const during = JSON.stringify(await steps.rowOf(requestId));
    await steps.sign(held);
    const signed = JSON.stringify(await steps.rowOf(requestId));
    const jwt = agent.signed(held.tokens).access_token;
    for (const text of ["telling", held.tokens[0]?.payload ?? "?", held.leaseToken, jwt.slice(0, 100)])
      for (const row of [during, signed]) assert.equal(row.includes(text), false, text);
  });
});
