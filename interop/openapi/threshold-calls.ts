/** Calls that succeed of agents of threshold pools, each pool with its own two. What they come to is tested with real machines (signing-agent). */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { signJws } from "../../packages/protocol/src/jose/jws.ts";
import { spokenHash } from "../../packages/protocol/src/threshold/messages.ts";
import { makeAgent, makePool, type TestAgent } from "../../packages/server/src/testing/fixtures/agent.ts";
import type { TestOrganisation, TestService } from "../../packages/server/src/testing/test-service.ts";
import { agentKey } from "../../packages/signing-agent/src/keys/key-source.ts";
import { memoryKey } from "../../packages/signing-agent/src/keys/pem-key.ts";
import { openJsonClient } from "../../packages/signing-agent/src/service/json-client.ts";
import { advance, confirm } from "../../packages/signing-agent/src/threshold/ceremony.ts";
import {
  createSealingKey,
  openSealedFolder,
} from "../../packages/signing-agent/src/threshold/sealed-folder.ts";
import { thresholdService } from "../../packages/signing-agent/src/threshold/threshold-service.ts";
import { bearer, type RealCalls } from "./real-calls.ts";

const boot = { count: 1, id: "A".repeat(22) };
/** Of a group key that no machine has. */
const kid = "A".repeat(43);

export function thresholdCalls({ service }: TestService, org: TestOrganisation): RealCalls {
  const pair = async (): Promise<TestAgent> => {
    const pool = await makePool(service, org, { algs: ["EdDSA"], threshold: { min: 2, max: 2 } });
    await makeAgent(service, org, pool);
    return makeAgent(service, org, pool);
  };
  const started = async (): Promise<TestAgent> => {
    const agent = await pair();
    const { status } = await agent.call("threshold/commitments", { boot, kid, commitments: [] });
    assert.equal(status, 200);
    return agent;
  };
  const at = "/oauth/{org}/sovereign/agent/threshold";
  return {
    [`GET ${at}`]: async () => bearer((await pair()).apiKey),
    [`POST ${at}/ceremonies`]: async () => bearer((await pair()).apiKey),
    [`POST ${at}/reshares`]: async () => {
      const pool = await makePool(service, org, { algs: ["EdDSA"], threshold: { min: 2, max: 2 } });
      const agents = [await makeAgent(service, org, pool), await makeAgent(service, org, pool)];
      await holdCeremony(org, agents);
      return { ...bearer(agents[0]?.apiKey ?? ""), body: { members: agents.map(({ agentId }) => agentId) } };
    },
    [`POST ${at}/messages`]: async () => {
      const agent = await pair();
      const { body } = await agent.call("threshold/ceremonies", {});
      const ceremonyId = String(body["ceremonyId"]);
      return { ...bearer(agent.apiKey), body: { ceremonyId, message: await abort(org, agent, ceremonyId) } };
    },
    [`POST ${at}/commitments`]: async () => ({
      ...bearer((await pair()).apiKey),
      body: { boot, kid, commitments: [] },
    }),
    [`POST ${at}/claim`]: async () => ({ ...bearer((await started()).apiKey), body: { boot, wait: 0 } }),
    [`POST ${at}/shares`]: async () => ({
      ...bearer((await started()).apiKey),
      body: { boot, parts: [{ requestId: "of-nobody", leaseToken: "of-nobody" }] },
    }),
  };
}

async function abort({ issuer }: TestOrganisation, agent: TestAgent, ceremony: string): Promise<string> {
  const [key] = agent.keys;
  assert.ok(key);
  return signJws({
    ...{ alg: "EdDSA", typ: "threshold-abort+jwt", kid: key.kid, privateKey: key.privateKey },
    payload: { aud: `${issuer}/sovereign/pools/${agent.poolId}`, ceremony, reason: "another day" },
  });
}

/** The agents' own part of a key ceremony, in a folder that nobody needs afterwards. */
async function holdCeremony({ issuer }: TestOrganisation, agents: readonly TestAgent[]): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-calls-"));
  const client = openJsonClient();
  try {
    const all = await Promise.all(
      agents.map(async ({ agentId, apiKey, poolId, keys: [key] }) => {
        assert.ok(key);
        const sealingKeyFile = path.join(folder, `${agentId}-key`);
        await createSealingKey(sealingKeyFile);
        return {
          service: thresholdService(client, `${issuer}/sovereign`, apiKey),
          sealed: await openSealedFolder({ folder: path.join(folder, agentId), sealingKeyFile }),
          identity: agentKey(memoryKey(key.privateKey, "EdDSA"), "test"),
          pool: `${issuer}/sovereign/pools/${poolId}`,
        };
      }),
    );
    await all[0]?.service.begin();
    for (let turn = 0; turn < 2; turn++) for (const one of all) await advance(one);
    for (const one of all) {
      const progress = await advance(one);
      assert.ok("share" in progress);
      await confirm(one, spokenHash(progress.share.transcript));
    }
  } finally {
    client.close();
    await rm(folder, { recursive: true });
  }
}
