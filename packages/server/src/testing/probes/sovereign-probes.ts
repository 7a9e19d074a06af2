/** For organisation-isolation.test.ts: pools, agents, administrators and waiting browsers of A, at B's addresses. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { Service } from "../../modules/open-service.ts";
import { authorizationRequest, type TestBrowser } from "../fakes/browser.ts";
import { makeAgent, makePool, newAgentKey, presentedKey, testAgent } from "../fixtures/agent.ts";
import { callApi, makeSystemAccount } from "../fixtures/system-account.ts";
import { decide, follow, showsConsent } from "../fixtures/visit.ts";
import { makeClient, REDIRECT_URI, type TestOrganisation } from "../test-service.ts";
import { publicPreflight } from "./document-probes.ts";

interface Loot {
  readonly service: Service;
  readonly a: TestOrganisation;
  readonly b: TestOrganisation;
  /** Signed in at A; its session's token under the name of B's cookie too. */
  readonly browser: TestBrowser;
}

/** @param path as it is registered */
const poolDocument =
  (path: string) =>
  async ({ service, a, b }: Loot): Promise<void> => {
    const { id } = await makePool(service, a);
    const status = async ({ issuer, organisation }: TestOrganisation) => {
      const address = path.replace(":org", organisation.id).replace(":poolId", id);
      return (await fetch(`${new URL(issuer).origin}${address}`)).status;
    };
    assert.deepEqual([await status(a), await status(b)], [200, 404]);
  };

const agentCall =
  (name: string) =>
  async ({ service, a, b }: Loot): Promise<void> => {
    const agent = await makeAgent(service, a, await makePool(service, a));
    const atB = testAgent(agent, b.issuer);
    const lease = { requestId: "n0dDuBYIAVxYyrs1hqyOxQ2ZK6dWqBcF", leaseToken: "sgn_lt_x" };
    const body = name === "queue" ? undefined : { ...lease, kids: agent.keys.map(({ kid }) => kid) };
    const { status, body: told } = await atB.call(name, body);
    assert.deepEqual([status, told["error"]], [401, "invalid_token"], "A's API key");
    assert.equal((await agent.call("queue")).status, 200, "at A it is one");
  };

const thresholdCall =
  (method: "GET" | "POST", name: string) =>
  async ({ service, a, b }: Loot): Promise<void> => {
    const pool = await makePool(service, a, { algs: ["EdDSA"], threshold: { min: 2, max: 2 } });
    const agent = await makeAgent(service, a, pool);
    const body = method === "GET" ? undefined : {};
    const { status, body: told } = await testAgent(agent, b.issuer).call(name, body);
    assert.deepEqual([status, told["error"]], [401, "invalid_token"], "A's API key");
    assert.equal((await agent.call("threshold")).status, 200, "at A it is one");
  };

const thresholdProbes = {
  "GET /oauth/:org/sovereign/agent/threshold": thresholdCall("GET", "threshold"),
  ...Object.fromEntries(
    ["ceremonies", "reshares", "messages", "commitments", "claim", "shares"].map((name) => [
      `POST /oauth/:org/sovereign/agent/threshold/${name}`,
      thresholdCall("POST", `threshold/${name}`),
    ]),
  ),
};

/** A's administrator at B's address, and B's with what is A's. */
const adminCall =
  (method: "POST" | "DELETE", wanted: (loot: Loot) => Promise<{ path: string; body?: object }>) =>
  async (loot: Loot): Promise<void> => {
    const { service, a, b } = loot;
    const { path, body } = await wanted(loot);
    for (const [account, at] of [
      [a, b],
      [b, a],
      [b, b],
    ] as const) {
      const by = await makeSystemAccount(service, account, { administrator: true });
      const { status } = await callApi(`${at.issuer}/sovereign/admin/${path}`, by, {
        method,
        strictAt: service.clock(),
        ...(body ? { body } : {}),
      });
      // A pool is made where the administrator is; all else names what is A's.
      const isOwn = account === at && path === "pools";
      assert.equal(status, isOwn ? 201 : 404, `${account === a ? "A's" : "B's"} at ${at === a ? "A" : "B"}`);
    }
  };

async function newAgent({ service, a }: Loot) {
  const pool = await makePool(service, a);
  const keys = [presentedKey(service, pool, newAgentKey("ES256"))];
  return { pool, body: { poolId: pool.id, name: "agent", keys } };
}

async function agentOfA(loot: Loot) {
  const { pool, body } = await newAgent(loot);
  const { agentId } = await makeAgent(loot.service, loot.a, pool);
  return { path: `agents/${agentId}`, body: { keys: body.keys } };
}

const waiting =
  (path: string) =>
  async ({ service, a, b, browser }: Loot): Promise<void> => {
    const pool = await makePool(service, a, { tokenWaitSeconds: 0 });
    const client = await makeClient(service, a.organisation, {
      redirectUris: [REDIRECT_URI],
      signingPoolId: pool.id,
    });
    const { query } = authorizationRequest(client.application.id, REDIRECT_URI, {});
    let page = await follow(browser, await browser.get(`${a.issuer}/authorize?${query}`));
    if (showsConsent(page)) page = await decide(browser, a, page);
    const address = `${page.url.replace(a.issuer, b.issuer)}${path}`;
    assert.notEqual(address, `${page.url}${path}`);
    const csrf = String(page.hidden["csrf"]);
    const answer =
      path === "/respond"
        ? await browser.post(address, { csrf, cancel: "true" }, { "sec-fetch-site": "same-origin" })
        : await browser.get(address);
    assert.equal(answer.status, 404);
    assert.equal((await browser.get(`${page.url}/status`)).status, 200, "at A it waits as before");
  };

const documents = Object.fromEntries(
  [
    "/oauth/:org/sovereign/pools/:poolId/.well-known/openid-configuration",
    "/oauth/:org/sovereign/pools/:poolId/.well-known/oauth-authorization-server",
    "/.well-known/openid-configuration/oauth/:org/sovereign/pools/:poolId",
    "/.well-known/oauth-authorization-server/oauth/:org/sovereign/pools/:poolId",
    "/oauth/:org/sovereign/pools/:poolId/jwks.json",
  ].flatMap((path) => [
    ...["GET", "HEAD"].map((method) => [`${method} ${path}`, poolDocument(path)]),
    [`OPTIONS ${path}`, publicPreflight],
  ]),
);

export const sovereignProbes = {
  ...documents,
  "GET /oauth/:org/sovereign/agent/queue": agentCall("queue"),
  "POST /oauth/:org/sovereign/agent/claim": agentCall("claim"),
  "POST /oauth/:org/sovereign/agent/sign": agentCall("sign"),
  "POST /oauth/:org/sovereign/agent/challenge": agentCall("challenge"),
  "POST /oauth/:org/sovereign/agent/reject": agentCall("reject"),
  "POST /oauth/:org/sovereign/agent/approve": agentCall("approve"),
  ...thresholdProbes,
  "POST /oauth/:org/sovereign/admin/pools": adminCall("POST", async () => ({
    path: "pools",
    body: { name: `Pool ${randomUUID()}`, algs: ["ES256"], maxTokenLifetimeSeconds: 600 },
  })),
  "POST /oauth/:org/sovereign/admin/agents": adminCall("POST", async (loot) => ({
    path: "agents",
    body: (await newAgent(loot)).body,
  })),
  "POST /oauth/:org/sovereign/admin/agents/:agentId/keys": adminCall("POST", async (loot) => {
    const { path, body } = await agentOfA(loot);
    return { path: `${path}/keys`, body };
  }),
  "DELETE /oauth/:org/sovereign/admin/agents/:agentId": adminCall("DELETE", async (loot) => ({
    path: (await agentOfA(loot)).path,
  })),
  "GET /oauth/:org/sovereign/wait/:requestId": waiting(""),
  "GET /oauth/:org/sovereign/wait/:requestId/status": waiting("/status"),
  "GET /oauth/:org/sovereign/wait/:requestId/stream": waiting("/stream"),
  "GET /oauth/:org/sovereign/wait/:requestId/continue": waiting("/continue"),
  "POST /oauth/:org/sovereign/wait/:requestId/respond": waiting("/respond"),
};
