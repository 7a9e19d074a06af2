/** What the end of an agent does to what it has claimed, and what its limits are. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { decodeProtectedHeader } from "jose";
import { sql } from "kysely";
import { recordTokenExp } from "../../../core/signing-pools/agent-key.store.ts";
import { findAgent } from "../../../core/signing-pools/signing-agent.store.ts";
import { deletePoolRow, listAllPools } from "../../../core/signing-pools/signing-pool.store.ts";
import { asAnotherRequest } from "../../../db/transaction-scope.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { eventually } from "../../../testing/eventually.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import {
  makeAgent,
  makePool,
  newAgentKey,
  presentedKey,
  setTokenWait,
} from "../../../testing/fixtures/agent.ts";
import { credentials, postForm } from "../../../testing/fixtures/client.ts";
import { isStatementBlocked } from "../../../testing/probes/blocked-statements.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";
import { addAgentKeys, deactivateAgent, MAX_KEYS, registerAgent } from "./agents.ts";
import { deletePool, disablePool } from "./pools.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
  });
  after(async () => {
    await running.close();
    const unexpected = running.errors.filter((error) => !isUnavailable(error));
    assert.deepEqual(unexpected, []);
  });
  /** That nobody signed in no time is meant. */
  const isUnavailable = (error: unknown) =>
    error instanceof OAuthError && error.code === "temporarily_unavailable";
  const deps = () => ({ ...running.service, baseUrl: running.baseUrl });
  const by = () => ({ orgId: org.organisation.id, actor: "test" });
  const hasCode = (code: string) => (error: unknown) => error instanceof CodedError && error.code === code;

  async function stage() {
    const pool = await makePool(running.service, org);
    const addAgent = () => makeAgent(running.service, org, pool);
    const [first, second] = [await addAgent(), await addAgent()];
    const client = await makeClient(running.service, org.organisation, {
      grantTypes: ["client_credentials"],
      allowedScopes: [],
      signingPoolId: pool.id,
    });
    await second.call("queue");
    const form = { grant_type: "client_credentials", ...credentials(client) };
    const askForToken = () => postForm(`${org.issuer}/token`, form);
    return { pool, addAgent, first, second, askForToken };
  }

  test("deactivation returns claimed requests to the queue and refuses late signatures", async () => {
    const { first, second, askForToken } = await stage();
    const waiting = askForToken();
    const claimed = await first.claim({ wait: 25 });
    assert.ok(claimed);
    assert.equal(await second.claim(), undefined, "it is the first one's");
    await deactivateAgent(deps(), by(), { agentId: first.agentId, compromised: false });
    assert.equal((await first.sign(claimed)).status, 401);
    const again = await second.claim();
    assert.equal(again?.requestId, claimed.requestId);
    assert.ok(again);
    assert.equal((await second.sign(again)).status, 200);
    assert.equal((await waiting).status, 200);
  });

  test("deactivating an agent doesn't deadlock with its signature", async () => {
    const { first, second, askForToken } = await stage();
    const waiting = askForToken();
    const claimed = await first.claim({ wait: 25 });
    assert.ok(claimed);
    const { database } = running.service;
    const { orgId } = by();
    const [key] = first.keys;
    assert.ok(key);
    let ending: Promise<unknown> = Promise.resolve();
    // As a signature is written: first its request, then its key.
    await database.transaction(async (tx) => {
      await sql`update signing_request set seq = seq where id = ${claimed.requestId}`.execute(tx);
      const compromised = { agentId: first.agentId, compromised: true };
      ending = asAnotherRequest(() => deactivateAgent(deps(), by(), compromised));
      if (database.kind === "postgres")
        await eventually("it waits", () => isStatementBlocked(database.query));
      await recordTokenExp(tx, { orgId, kid: key.kid, exp: clock() + 3_600_000 });
    });
    assert.equal(await ending, true);
    const again = await second.claim({ wait: 25 });
    assert.equal(again?.requestId, claimed.requestId);
    assert.ok(again);
    assert.equal((await second.sign(again)).status, 200);
    assert.equal((await waiting).status, 200);
  });

  test("deleting a pool doesn't deadlock with a signature", async () => {
    const { pool, first, askForToken } = await stage();
    const waiting = askForToken();
    const claimed = await first.claim({ wait: 25 });
    assert.ok(claimed);
    assert.equal((await first.sign(claimed)).status, 200);
    assert.equal((await waiting).status, 200);
    const { database } = running.service;
    const { orgId } = by();
    let ending: Promise<unknown> = Promise.resolve();
    await database.transaction(async (tx) => {
      await sql`update signing_request set seq = seq where id = ${claimed.requestId}`.execute(tx);
      ending = asAnotherRequest(() => database.transaction((other) => deletePoolRow(other, orgId, pool.id)));
      if (database.kind === "postgres")
        await eventually("it waits", () => isStatementBlocked(database.query));
      await recordTokenExp(tx, { orgId, kid: first.keys[0]?.kid ?? "", exp: clock() + 7_200_000 });
    });
    await ending;
    assert.equal(await findAgent(database.query, orgId, first.agentId), undefined);
  });

  test("a held call of a deactivated agent returns nothing", async () => {
    const { first, second, askForToken } = await stage();
    const held = first.call("queue?wait=25");
    // It has been let in.
    await eventually("the agent is seen", async () => {
      const agent = await findAgent(running.service.database.query, by().orgId, first.agentId);
      return agent?.lastSeenAt !== null;
    });
    await deactivateAgent(deps(), by(), { agentId: first.agentId, compromised: false });
    const waiting = askForToken();
    const { status, body } = await held;
    assert.deepEqual([status, body["error"]], [401, "invalid_token"]);
    const claimed = await second.claim({ wait: 25 });
    assert.ok(claimed);
    await second.sign(claimed);
    assert.equal((await waiting).status, 200);
  });

  test("claims released by a deactivation don't count as attempts", async () => {
    const { first, second, addAgent, askForToken } = await stage();
    const waiting = askForToken();
    const agents = [first, second, await addAgent(), await addAgent()];
    for (const agent of agents) {
      const claimed = await agent.claim({ wait: 25 });
      assert.ok(claimed);
      if (agent === agents.at(-1)) assert.equal((await agent.sign(claimed)).status, 200);
      else await deactivateAgent(deps(), by(), { agentId: agent.agentId, compromised: false });
    }
    assert.equal((await waiting).status, 200);
  });

  test("unreleased tokens of a compromised agent are signed by another", async () => {
    const { pool, first, second, askForToken } = await stage();
    await setTokenWait(running.service, pool, 0);
    assert.equal((await askForToken()).status, 503);
    const claimed = await first.claim();
    assert.ok(claimed);
    assert.equal((await first.sign(claimed)).status, 200);
    await deactivateAgent(deps(), by(), { agentId: first.agentId, compromised: true });
    await setTokenWait(running.service, pool, 8);
    const waiting = askForToken();
    const anew = await second.claim({ wait: 25 });
    assert.ok(anew);
    assert.notEqual(anew.requestId, claimed.requestId);
    await second.sign(anew);
    const { status, body } = await waiting;
    assert.equal(status, 200);
    assert.equal(decodeProtectedHeader(String(body["access_token"])).kid, second.keys[0]?.kid);
  });

  test("a disabled pool accepts no agents and no keys", async () => {
    const pool = await makePool(running.service, org);
    const agent = await makeAgent(running.service, org, pool);
    assert.equal(await disablePool(deps(), by(), { id: pool.id, disabled: true }), true);
    assert.equal(await disablePool(deps(), by(), { id: pool.id, disabled: true }), false);
    await assert.rejects(makeAgent(running.service, org, pool), hasCode("pool_disabled"));
    const keys = [presentedKey(running.service, pool, newAgentKey("ES256"))];
    await assert.rejects(
      addAgentKeys(deps(), by(), { agentId: agent.agentId, keys }),
      hasCode("pool_disabled"),
    );
  });

  test("simultaneous first registrations of a pool are serialised", async () => {
    const pool = await makePool(running.service, org, { keyPublishDelaySeconds: 600 });
    const made = await Promise.all([1, 2, 3].map(() => makeAgent(running.service, org, pool)));
    const keys = await running.service.signingPools.published(org.organisation.id);
    const own = keys.filter(({ key }) => made.some(({ agentId }) => agentId === key.agentId));
    assert.equal(own.filter(({ key }) => key.activeFrom <= clock()).length, 1);
    assert.equal(own.filter(({ key }) => key.activeFrom === clock() + 600_000).length, 2);
  });

  test("a key without a delay is active immediately on every node", async () => {
    const pool = await makePool(running.service, org, { keyPublishDelaySeconds: 0 });
    await makeAgent(running.service, org, pool);
    const { agentId } = await makeAgent(running.service, org, pool);
    const keys = await running.service.signingPools.published(org.organisation.id);
    const second = keys.find(({ key }) => key.agentId === agentId);
    assert.ok(second && second.key.activeFrom <= clock() - 1_000);
  });

  test("limits the unretired keys of an agent", async () => {
    const pool = await makePool(running.service, org, { keyPublishDelaySeconds: 600 });
    const { agentId } = await makeAgent(running.service, org, pool);
    const add = (count: number) =>
      addAgentKeys(deps(), by(), {
        agentId,
        keys: Array.from({ length: count }, () => presentedKey(running.service, pool, newAgentKey("ES256"))),
      });
    await add(MAX_KEYS - 1);
    await assert.rejects(add(1), hasCode("key_limit"));
    clock.advance(600_000 + 61_000);
    assert.equal((await add(1)).length, 1, "the first one has retired");
  });

  test("a compromised key stays refused after its pool is deleted; a retired one can return", async () => {
    const [pool, other] = [
      await makePool(running.service, org),
      await makeOrganisation(running.service, "Other"),
    ];
    const [stolen, retired] = [
      await makeAgent(running.service, org, pool),
      await makeAgent(running.service, org, pool),
    ];
    await deactivateAgent(deps(), by(), { agentId: stolen.agentId, compromised: true });
    await deactivateAgent(deps(), by(), { agentId: retired.agentId, compromised: false });
    assert.equal(await deletePool(deps(), by(), pool.id), "deleted");
    const attempt = async (at: TestOrganisation, { keys: [key] }: typeof stolen) => {
      assert.ok(key);
      const into = await makePool(running.service, at);
      const acting = { orgId: at.organisation.id, actor: "test" };
      const presented = [presentedKey(running.service, into, key)];
      await registerAgent(deps(), acting, { poolId: into.id, name: "Again", keys: presented });
    };
    await assert.rejects(attempt(org, stolen), hasCode("duplicate_key"));
    await assert.rejects(attempt(other, stolen), hasCode("duplicate_key"));
    await attempt(org, retired);
    const pools = await listAllPools(running.service.database.query, org.organisation.id);
    const again = pools.at(-1);
    assert.ok(again);
    const { agentId } = await makeAgent(running.service, org, again);
    const [key] = stolen.keys;
    assert.ok(key);
    const keys = [presentedKey(running.service, again, key)];
    await assert.rejects(addAgentKeys(deps(), by(), { agentId, keys }), hasCode("duplicate_key"));
    assert.equal(await deletePool(deps(), by(), again.id), "deleted", "nothing of what was refused is left");
  });
});
