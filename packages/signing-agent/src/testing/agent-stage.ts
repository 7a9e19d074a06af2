/** An agent in this process beside a service on loopback, made anew for each test of a suite. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, afterEach, before, beforeEach } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { type RunningAgent, startAgent } from "../agent.ts";
import { approvals } from "../challenges/approvals.ts";
import type { RequestParts } from "../handle-request.ts";
import { type Journal, openJournal } from "../journal/journal.ts";
import { type AgentKey, agentKey } from "../keys/key-source.ts";
import { generatePrivateKey, memoryKey } from "../keys/pem-key.ts";
import { createMetrics } from "../metrics.ts";
import { parsePolicy } from "../policy/policy.ts";
import { rateLimits } from "../policy/rate-limits.ts";
import { seenTokenIds } from "../policy/seen-token-ids.ts";
import { type Connections, openConnections } from "../service/json-call.ts";
import { signingService } from "../service/signing-service.ts";
import { sovereignAddress } from "../sovereign-address.ts";
import { type Ended, type FakeService, ORGANISATION, startFakeService } from "./fake-service.ts";
import { type Changes, POLICY, sampleRequest } from "./sample-request.ts";

export const withChallenge = (type: string): string =>
  POLICY.replace("grants:", `challenge: { type: ${type}, when: authorization_code }\n    grants:`);

/** What is there while a test runs. */
interface Scene {
  key: AgentKey;
  fake: FakeService;
  connections: Connections;
  journal: Journal;
  parts: RequestParts;
  agent: RunningAgent | undefined;
}

export interface AgentStage extends Readonly<Scene> {
  start(policyText?: string, change?: Partial<RequestParts>): void;
  /** Until the service has seen that the agent is gone, so that it gives it nothing more. */
  stop(): Promise<void>;
  ask(changes?: Changes): Promise<Ended>;
  journalLines(): Promise<Array<Record<string, unknown>>>;
  readonly logged: string[];
}

/** Registers the hooks of the suite that it is called in. */
export function agentStage(): AgentStage {
  const scene = { agent: undefined } as Scene;
  const logged: string[] = [];
  let folder: string;
  let journalFile: string;
  let count = 0;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-agent-"));
    scene.key = agentKey(memoryKey(await generatePrivateKey("ES256"), "ES256"), "test");
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    scene.fake = await startFakeService();
    scene.connections = openConnections();
    count += 1;
    logged.length = 0;
    journalFile = path.join(folder, `journal-${count}`);
    scene.journal = await openJournal(journalFile, Date.now);
  });
  afterEach(async () => {
    await scene.agent?.stop(0);
    scene.agent = undefined;
    scene.connections.close();
    await scene.journal.close();
    await scene.fake.close();
  });
  return Object.assign(scene, {
    logged,
    start: (policyText?: string, change?: Partial<RequestParts>) => {
      scene.parts = { ...partsOf(scene, logged, policyText), ...change };
      scene.agent = startAgent(scene.parts);
    },
    stop: async () => {
      await scene.agent?.stop(0);
      while (scene.fake.waiting() > 0) await delay(5);
    },
    ask: (changes?: Changes) => scene.fake.enqueue(sampleRequest(scene.key, Date.now(), changes)),
    journalLines: async () => {
      const text = await readFile(journalFile, "utf8");
      return text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    },
  });
}

function partsOf({ key, fake, connections, journal }: Scene, logged: string[], text = POLICY): RequestParts {
  const address = sovereignAddress({ service: fake.address, organisation: ORGANISATION });
  const policy = parsePolicy(text);
  return {
    service: signingService(connections, address, fake.apiKey),
    keys: [key],
    policy: () => policy,
    limits: rateLimits(Date.now),
    seen: seenTokenIds(Date.now),
    approvals: approvals(Date.now),
    journal,
    metrics: createMetrics(),
    log: (level, message, fields) => logged.push(JSON.stringify({ level, message, ...fields })),
    clock: Date.now,
    channel: undefined,
    passkeys: undefined,
  };
}
