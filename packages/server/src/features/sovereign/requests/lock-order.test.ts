/** Statements that change several requests lock them in the order of their ids, whatever the order they are stored in. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { deletePoolRow } from "../../../core/signing-pools/signing-pool.store.ts";
import type { Db } from "../../../db/open.ts";
import { asAnotherRequest } from "../../../db/transaction-scope.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { eventually } from "../../../testing/eventually.ts";
import { signingFixture } from "../../../testing/fixtures/signing-fixture.ts";
import { withBrowser } from "../../../testing/fixtures/signing-steps.ts";
import { isStatementBlocked } from "../../../testing/probes/blocked-statements.ts";
import { extendLeases } from "../agent-api/agent-queue.store.ts";
import { releaseClaims } from "./claim-request.store.ts";
import { type ClaimedRequest, claimRequests } from "./claim-request.ts";
import { failSignedBy } from "./sign-request.store.ts";
import { signRequests } from "./sign-request.ts";

const COUNT = 8;

forEachDatabase(({ fresh }) => {
  const { clock, harness, agent, steps } = signingFixture(fresh);

  /** Claimed ones; of two of them the second is stored after the first and has the smaller id. */
  async function claimed() {
    for (;;) {
      await agent.seen();
      for (let index = 0; index < COUNT; index++) await steps.create(withBrowser);
      const claims = await claimRequests(harness.signing, agent.caller, { kids: [agent.kid], max: COUNT });
      const requests = claims.outcome === "claimed" ? claims.requests : assert.fail(claims.outcome);
      assert.equal(requests.length, COUNT);
      const pair = await unorderedPair(requests);
      if (pair) return { requests, pair };
    }
  }

  async function unorderedPair(requests: readonly ClaimedRequest[]) {
    const stored = await storedOrder(requests);
    for (const [index, id] of stored.entries()) {
      const smaller = stored.slice(index + 1).find((other) => other < id);
      if (smaller !== undefined) return [id, smaller] as const;
    }
    return undefined;
  }

  const touch = (db: Db, id: string) =>
    sql`update signing_request set seq = seq where id = ${id}`.execute(db);

  const storedOrder = async (requests: readonly ClaimedRequest[]) => {
    const { kind, query } = harness.database;
    const place = kind === "postgres" ? sql`ctid` : sql`rowid`;
    const ids = requests.map(({ requestId }) => requestId);
    const rows = query.selectFrom("signing_request").select("id").where("id", "in", ids);
    return (await rows.orderBy(place).execute()).map(({ id }) => id);
  };

  /** @param statement meets a transaction that locks the smaller id first, then the other one */
  async function meets([larger, smaller]: readonly [string, string], statement: () => Promise<unknown>) {
    const { database } = harness;
    let ended: Promise<unknown> = Promise.resolve();
    await database.transaction(async (tx) => {
      await touch(tx, smaller);
      ended = asAnotherRequest(() => Promise.allSettled([statement()]));
      if (database.kind === "postgres")
        await eventually("it waits", () => isStatementBlocked(database.query));
      await touch(tx, larger);
    });
    assert.deepEqual(((await ended) as PromiseSettledResult<unknown>[])[0]?.status, "fulfilled");
  }

  test("leases that are renewed", async () => {
    const { pair, requests } = await claimed();
    const requestIds = requests.map(({ requestId }) => requestId);
    const renewal = { ...agent.caller, requestIds, now: clock() };
    await meets(pair, () => extendLeases(harness.database.query, renewal));
  });

  test("claims of an agent that is deactivated", async () => {
    const { pair } = await claimed();
    await meets(pair, () => releaseClaims(harness.database.query, agent.caller));
  });

  test("signatures of a key that is compromised", async () => {
    const { requests } = await claimed();
    const signed = requests.map((one) => ({ ...one, jwts: agent.signed(one.tokens) }));
    const outcomes = await signRequests(harness.signing, agent.caller, signed);
    assert.deepEqual([...new Set(outcomes.map(({ outcome }) => outcome))], ["signed"]);
    const { kind, query } = harness.database;
    // PostgreSQL stores a changed row anew.
    const ids = requests.map(({ requestId }) => requestId).toSorted();
    for (const id of ids.toReversed()) await touch(query, id);
    const pair = await unorderedPair(requests);
    assert.ok(pair || kind === "sqlite");
    const { orgId } = agent.caller;
    await meets(pair ?? [ids[1] ?? "", ids[0] ?? ""], () =>
      failSignedBy(harness.database.query, { orgId, kids: [agent.kid], now: clock() }),
    );
  });

  test("requests of a pool that is deleted", async () => {
    const { pair } = await claimed();
    const { orgId, poolId } = agent.caller;
    await meets(pair, () => harness.database.transaction((tx) => deletePoolRow(tx, orgId, poolId)));
  });
});
