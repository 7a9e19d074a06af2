/**
 * Signing agents that die at random, at the worst moments, and are replaced: some in this process, which die between two
 * statements, and some as real `signet-agent` processes, which are killed wherever they are.
 */
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { deactivateAgent } from "../../packages/server/src/features/sovereign/admin-api/agents.ts";
import type { Service } from "../../packages/server/src/modules/open-service.ts";
import { type Claimed, makeAgent, type TestAgent } from "../../packages/server/src/testing/fixtures/agent.ts";
import { enrolAgent, startAgentProcess } from "./signing-agent-process.ts";
import type { SovereignFixture } from "./sovereign-fixture.ts";

export interface AgentFleet {
  readonly fixture: SovereignFixture;
  readonly operator: Service;
  /** Of the policy that real agents get. */
  readonly clients: Readonly<Record<string, string>>;
  /** Claims of an agent before it dies, on average. */
  readonly meanLife: number;
  /** Whether some of the dead are not noticed: what they held lapses after 30 seconds, and real ones come back as they were. */
  readonly leavesLapsing: boolean;
  readonly stopped: AbortSignal;
  /** How they died. */
  readonly deaths: Record<string, number>;
}

const endings = [
  "while it claims",
  "when it has claimed",
  "while it hands in",
  "before it is answered",
] as const;
const batchEndings = ["with a batch", "while a batch is handed in", "before a batch is answered"] as const;
const BATCH = 4;
const unnoticed = 0.2;
const longestCutMs = 12;
const LONG_MS = 3_600_000;

/**
 * One place in the pack: an agent, and when it has died the next one, until all is over. The first lives for one claim, so that
 * somebody dies in each place, however the work and the lengths of the lives fall.
 */
export async function crashingAgent(pack: AgentFleet): Promise<void> {
  const { operator, fixture, stopped, meanLife } = pack;
  for (let life = 1; !stopped.aborted; life = Math.ceil(Math.random() * 2 * meanLife)) {
    const agent = await makeAgent(operator, fixture.org, fixture.pool);
    const live = Math.random() < 0.5 ? liveAndDie : liveInBatches;
    await live(pack, agent, life);
    if (!pack.leavesLapsing || Math.random() > unnoticed) await bury(pack, agent.agentId);
  }
}

async function liveAndDie(pack: AgentFleet, agent: TestAgent, life: number): Promise<void> {
  const { stopped, deaths } = pack;
  const ending = endings[Math.floor(Math.random() * endings.length)] ?? "when it has claimed";
  for (let left = life; !stopped.aborted; ) {
    // A short wait, so that an idle agent hears that all is over.
    if (left <= 0 && ending === "while it claims") {
      await cutOff(pack, agent, "claim", { kids: agent.keys.map(({ kid }) => kid), wait: 1 });
      break;
    }
    const claimed = await agent.claim({ wait: 1 });
    if (!claimed) continue;
    left -= 1;
    const { requestId, leaseToken } = claimed;
    const submission = { requestId, leaseToken, jwts: agent.signatures(claimed) };
    if (left > 0 || ending === "while it claims") await agent.sign(claimed);
    else {
      if (ending === "while it hands in") await cutOff(pack, agent, "sign", submission);
      if (ending === "before it is answered") void agent.call("sign", submission).catch(() => {});
      break;
    }
  }
  if (!stopped.aborted) deaths[ending] = (deaths[ending] ?? 0) + 1;
}

/** The same with several requests at once, the next of which come with the answer: whole batches die with it. */
async function liveInBatches(pack: AgentFleet, agent: TestAgent, life: number): Promise<void> {
  const { stopped, deaths } = pack;
  let held: readonly Claimed[] = [];
  for (let left = life; !stopped.aborted; ) {
    if (held.length === 0) held = await agent.claimSeveral(BATCH, { wait: 1 });
    if (held.length === 0) continue;
    left -= held.length;
    if (left <= 0) break;
    held = (await agent.signSeveral(held, BATCH)).body["requests"] as Claimed[];
  }
  if (stopped.aborted) return;
  const ending = batchEndings[Math.floor(Math.random() * batchEndings.length)] ?? "with a batch";
  if (ending === "while a batch is handed in") {
    const signatures = held.map((one) => ({
      requestId: one.requestId,
      leaseToken: one.leaseToken,
      jwts: agent.signatures(one),
    }));
    const kids = agent.keys.map(({ kid }) => kid);
    await cutOff(pack, agent, "sign", { signatures, claim: { kids, max: BATCH } });
  }
  if (ending === "before a batch is answered") void agent.signSeveral(held, BATCH).catch(() => {});
  deaths[ending] = (deaths[ending] ?? 0) + 1;
}

/** A call whose connection ends at some point of it. */
async function cutOff(
  { fixture }: AgentFleet,
  { apiKey }: TestAgent,
  name: "claim" | "sign",
  body: object,
): Promise<void> {
  await fetch(`${fixture.org.issuer}/sovereign/agent/${name}`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(Math.ceil(Math.random() * longestCutMs)),
  }).catch(() => undefined);
}

/** As an operator does with an agent that is gone: what it held goes to others at once. */
async function bury({ operator, fixture }: AgentFleet, agentId: string): Promise<void> {
  const acting = { orgId: fixture.org.organisation.id, actor: "test" };
  const deps = { ...operator, baseUrl: fixture.baseUrl };
  await deactivateAgent(deps, acting, { agentId, compromised: false });
}

/** The same with real processes, each killed some time after it has begun to sign, `kills` times in all. */
export async function crashingProcess(
  pack: AgentFleet,
  name: string,
  { kills, lifeMs }: { readonly kills: number; readonly lifeMs: number },
): Promise<void> {
  const { operator, fixture, clients, stopped, deaths } = pack;
  let folder = "";
  let agentId = "";
  for (let kill = 0; !stopped.aborted; kill += 1) {
    const comesBack = folder !== "" && pack.leavesLapsing && Math.random() < 0.5;
    if (!comesBack) {
      if (agentId !== "") await bury(pack, agentId);
      folder = path.join(fixture.folder, `${name}-${kill}`);
      agentId = await enrolAgent(operator, fixture, { folder, clients });
    }
    const agent = startAgentProcess(folder);
    await agent.said("agent started");
    const ms = kill < kills ? lifeMs * 2 * Math.random() : LONG_MS;
    await delay(ms, undefined, { signal: stopped }).catch(() => {});
    await agent.kill();
    if (!stopped.aborted) deaths["as a process"] = (deaths["as a process"] ?? 0) + 1;
  }
}
