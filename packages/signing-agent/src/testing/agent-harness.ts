/** An agent in this process with a fake service on loopback, both new for each test. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, afterEach, before, beforeEach } from "node:test";
import { eventually } from "@signet/server/testing/eventually";
import { type RunningAgent, startAgent } from "../agent/agent.ts";
import type { AgentDeps } from "../agent/agent-deps.ts";
import { createMetrics } from "../agent/metrics.ts";
import { approvals } from "../challenges/approvals.ts";
import { type Journal, openJournal } from "../journal/journal.ts";
import { type AgentKey, agentKey } from "../keys/key-source.ts";
import { generatePrivateKey, memoryKey } from "../keys/pem-key.ts";
import { parsePolicy } from "../policy/policy.ts";
import { rateLimits } from "../policy/rate-limits.ts";
import { seenTokenIds } from "../policy/seen-token-ids.ts";
import { type JsonClient, openJsonClient } from "../service/json-client.ts";
import { signingService, sovereignUrl } from "../service/signing-service.ts";
import { type Ended, type FakeService, ORGANISATION, startFakeService } from "./fake-service.ts";
import { type Changes, POLICY, sampleRequest } from "./sample-request.ts";

export const withChallenge = (type: string): string =>
  POLICY.replace("grants:", `challenge: { type: ${type}, when: authorization_code }\n    grants:`);

interface HarnessState {
  key: AgentKey;
  fake: FakeService;
  client: JsonClient;
  journal: Journal;
  deps: AgentDeps;
  agent: RunningAgent | undefined;
}

export interface AgentHarness extends Readonly<HarnessState> {
  start(policyText?: string, change?: Partial<AgentDeps>): void;
  /** Until the service has noticed, so that it hands nothing more to this agent. */
  stop(): Promise<void>;
  requestTokens(changes?: Changes): Promise<Ended>;
  journalLines(): Promise<Array<Record<string, unknown>>>;
  readonly logged: string[];
}

/** Registers hooks in the suite that calls it. */
export function agentHarness(): AgentHarness {
  const state = { agent: undefined } as HarnessState;
  const logged: string[] = [];
  let folder: string;
  let journalFile: string;
  let count = 0;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-agent-"));
    state.key = agentKey(memoryKey(await generatePrivateKey("ES256"), "ES256"), "test");
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    state.fake = await startFakeService();
    state.client = openJsonClient();
    count += 1;
    logged.length = 0;
    journalFile = path.join(folder, `journal-${count}`);
    state.journal = await openJournal(journalFile, Date.now);
  });
  afterEach(async () => {
    await state.agent?.stop(0);
    state.agent = undefined;
    state.client.close();
    await state.journal.close();
    await state.fake.close();
  });
  return Object.assign(state, {
    logged,
    start: (policyText?: string, change?: Partial<AgentDeps>) => {
      state.deps = { ...testDeps(state, logged, policyText), ...change };
      state.agent = startAgent(state.deps);
    },
    stop: async () => {
      await state.agent?.stop(0);
      await eventually("no claim is pending", () => state.fake.waiting() === 0);
    },
    requestTokens: (changes?: Changes) => state.fake.enqueue(sampleRequest(state.key, Date.now(), changes)),
    journalLines: async () => {
      const lines = (await readFile(journalFile, "utf8")).trimEnd().split("\n");
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    },
  });
}

function testDeps({ key, fake, client, journal }: HarnessState, logged: string[], text = POLICY): AgentDeps {
  const policy = parsePolicy(text);
  return {
    service: signingService(
      client,
      sovereignUrl({ service: fake.url, organisation: ORGANISATION }),
      fake.apiKey,
    ),
    keys: [key],
    policy: () => policy,
    limits: rateLimits(Date.now),
    seen: seenTokenIds(Date.now),
    approvals: approvals(Date.now),
    signatures: { value: 0 },
    journal,
    metrics: createMetrics(),
    log: (level, message, fields) => logged.push(JSON.stringify({ level, message, ...fields })),
    clock: Date.now,
    channel: undefined,
    passkeys: () => undefined,
  };
}
