/** Calls that succeed of signing agents, and of browsers that wait for them. */
import assert from "node:assert/strict";
import { authorizationRequest, testBrowser } from "../../packages/server/src/testing/fakes/browser.ts";
import {
  approvalBy,
  type Claimed,
  makeAgent,
  makePool,
  newAgentKey,
  presentedKey,
  type TestAgent,
} from "../../packages/server/src/testing/fixtures/agent.ts";
import {
  decide,
  follow,
  logIn,
  showsConsent,
  showsLogin,
} from "../../packages/server/src/testing/fixtures/visit.ts";
import {
  makeClient,
  REDIRECT_URI,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";
import { bearer, type RealCalls } from "./real-calls.ts";

/** A pool of their own: what schemathesis does as another pool's agent takes nothing from them. */
export async function agentCalls({ service }: TestService, org: TestOrganisation): Promise<RealCalls> {
  // The browser is led to the wait page at once.
  const pool = await makePool(service, org, { tokenWaitSeconds: 0 });
  const agent = await makeAgent(service, org, pool);
  const settings = { redirectUris: [REDIRECT_URI], signingPoolId: pool.id };
  const web = await makeClient(service, org.organisation, settings);
  // Nothing is queued for a pool whose agents were never seen.
  await agent.call("queue?wait=0");
  const wait = () => waitingBrowser(org, web);
  const keys = () => [presentedKey(service, pool, newAgentKey("ES256"))];
  return {
    ...(await approvalCalls(service, org)),
    ...queueCalls(agent, wait),
    ...browserCalls(agent, wait),
    "POST /oauth/{org}/sovereign/admin/agents": async () => ({
      body: { poolId: pool.id, name: "Another agent", keys: keys() },
    }),
    "POST /oauth/{org}/sovereign/admin/agents/{agentId}/keys": async () => {
      const { agentId } = await makeAgent(service, org, pool);
      return { path: { agentId }, body: { keys: keys() } };
    },
  };
}

async function approvalCalls(service: TestService["service"], org: TestOrganisation): Promise<RealCalls> {
  const pool = await makePool(service, org, { tokenWaitSeconds: 0, approvals: 2 });
  const agent = await makeAgent(service, org, pool);
  const other = await makeAgent(service, org, pool);
  const settings = { redirectUris: [REDIRECT_URI], signingPoolId: pool.id };
  const web = await makeClient(service, org.organisation, settings);
  for (const one of [agent, other]) await one.call("queue?wait=0");
  return {
    "POST /oauth/{org}/sovereign/agent/approve": async () => {
      const { requestId } = await waitingBrowser(org, web);
      const one = await claimed(agent, requestId);
      const approval = approvalBy(agent, one, { iat: Math.floor(service.clock() / 1000) });
      return { ...bearer(agent.apiKey), body: { requestId, leaseToken: one.leaseToken, approval } };
    },
  };
}

type Wait = () => ReturnType<typeof waitingBrowser>;

async function waitingBrowser(org: TestOrganisation, web: TestClient) {
  const browser = testBrowser();
  const { query } = authorizationRequest(web.application.id, REDIRECT_URI);
  let page = await follow(browser, await browser.get(`${org.issuer}/authorize?${query}`));
  if (showsLogin(page)) page = await logIn(browser, org, page);
  if (showsConsent(page)) page = await decide(browser, org, page);
  const requestId = page.url.split("/").at(-1) ?? "";
  assert.match(requestId, /^[\w-]{32}$/, page.url);
  const Cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const call = { path: { requestId }, credentials: { Cookie } };
  return { requestId, csrf: page.hidden["csrf"] ?? "", call };
}

async function claimed(agent: TestAgent, requestId: string): Promise<Claimed> {
  const held = await agent.claim({ requestId });
  assert.ok(held);
  return held;
}

const question = { challengeId: "c-1", type: "confirm", prompt: "Is it you?", ttl: 60 };

function queueCalls(agent: TestAgent, wait: Wait): RealCalls {
  const held = async () => claimed(agent, (await wait()).requestId);
  const lease = ({ requestId, leaseToken }: Claimed) => ({ requestId, leaseToken });
  const asAgent = bearer(agent.apiKey);
  return {
    "POST /oauth/{org}/sovereign/agent/claim": async () => {
      const { requestId } = await wait();
      return { ...asAgent, body: { requestId, kids: agent.keys.map(({ kid }) => kid) } };
    },
    "POST /oauth/{org}/sovereign/agent/sign": async () => {
      const one = await held();
      return { ...asAgent, body: { ...lease(one), jwts: agent.signatures(one) } };
    },
    "POST /oauth/{org}/sovereign/agent/challenge": async () => ({
      ...asAgent,
      body: { ...lease(await held()), ...question },
    }),
    "POST /oauth/{org}/sovereign/agent/reject": async () => ({
      ...asAgent,
      body: { ...lease(await held()), reason: "policy_denied", retryable: false },
    }),
  };
}

function browserCalls(agent: TestAgent, wait: Wait): RealCalls {
  const path = "/oauth/{org}/sovereign/wait/{requestId}";
  return {
    [`GET ${path}/status`]: async () => (await wait()).call,
    // Of a request that is signed: the stream says so, and ends.
    [`GET ${path}/stream`]: async () => {
      const { requestId, call } = await wait();
      await agent.sign(await claimed(agent, requestId));
      return call;
    },
    [`POST ${path}/respond`]: async () => {
      const { requestId, csrf, call } = await wait();
      await agent.challenge(await claimed(agent, requestId), question);
      return { ...call, body: { csrf, challengeId: question.challengeId, answer: "yes" } };
    },
  };
}
