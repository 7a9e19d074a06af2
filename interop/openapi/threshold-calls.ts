/** Calls that succeed of agents of threshold pools, each pool with its own two. What they come to is tested with real machines (signing-agent). */
import assert from "node:assert/strict";
import { signJws } from "../../packages/protocol/src/jose/jws.ts";
import { makeAgent, makePool, type TestAgent } from "../../packages/server/src/testing/fixtures/agent.ts";
import type { TestOrganisation, TestService } from "../../packages/server/src/testing/test-service.ts";
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
  const path = "/oauth/{org}/sovereign/agent/threshold";
  return {
    [`GET ${path}`]: async () => bearer((await pair()).apiKey),
    [`POST ${path}/ceremonies`]: async () => bearer((await pair()).apiKey),
    [`POST ${path}/messages`]: async () => {
      const agent = await pair();
      const { body } = await agent.call("threshold/ceremonies", {});
      const ceremonyId = String(body["ceremonyId"]);
      return { ...bearer(agent.apiKey), body: { ceremonyId, message: await abort(org, agent, ceremonyId) } };
    },
    [`POST ${path}/commitments`]: async () => ({
      ...bearer((await pair()).apiKey),
      body: { boot, kid, commitments: [] },
    }),
    [`POST ${path}/claim`]: async () => ({ ...bearer((await started()).apiKey), body: { boot, wait: 0 } }),
    [`POST ${path}/shares`]: async () => ({
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
