/** Everything that a configuration names, opened; what `signet-agent run` does until it is told to stop. */
import { readFile } from "node:fs/promises";
import { type RunningAgent, startAgent } from "./agent.ts";
import { approvals } from "./challenges/approvals.ts";
import type { Channel } from "./challenges/channel.ts";
import { type Passkeys, parseCredentials } from "./challenges/passkeys.ts";
import { terminalChannel } from "./challenges/terminal-channel.ts";
import { webhookChannel } from "./challenges/webhook-channel.ts";
import type { Configuration } from "./configuration.ts";
import type { RequestParts } from "./handle-request.ts";
import { openJournal } from "./journal/journal.ts";
import type { JournalEntry } from "./journal/journal-entry.ts";
import { closeKeys, openKeys } from "./keys/open-keys.ts";
import { type Log, reasonOf } from "./log.ts";
import { createMetrics } from "./metrics.ts";
import { serveMetrics } from "./metrics-server.ts";
import { type Policy, parsePolicy } from "./policy/policy.ts";
import { rateLimits } from "./policy/rate-limits.ts";
import { seenTokenIds } from "./policy/seen-token-ids.ts";
import { readSecretFile } from "./private-file.ts";
import { skewNotes } from "./renew-leases.ts";
import { type Connections, openConnections } from "./service/json-call.ts";
import { signingService } from "./service/signing-service.ts";
import { sovereignAddress } from "./sovereign-address.ts";

export interface OpenAgent {
  /** Policy and passkeys from their files again, and the journal's file; what cannot be read leaves all as it was. */
  reload(): Promise<void>;
  /** Ends within 20 seconds. */
  stop(): Promise<void>;
  isHealthy(): boolean;
  /** Where metrics are served; undefined when the configuration names no port. */
  readonly metricsPort: number | undefined;
}

/** Questions to users at once, through the webhook. */
const MOST_ASKED = 2_000;

export interface Outside {
  readonly log: Log;
  readonly clock: () => number;
  /** For challenges on the terminal. */
  readonly terminal?: { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WriteStream };
}

/** @throws whatever is wrong with the files that the configuration names; a service that is away is no error */
export async function openAgent(configuration: Configuration, outside: Outside): Promise<OpenAgent> {
  const { log, clock } = outside;
  const closing: Array<() => Promise<void> | void> = [];
  const close = async () => {
    for (const one of closing.reverse()) await one();
  };
  try {
    const rules = await readRules(configuration);
    const keys = await openKeys(configuration.keys);
    closing.push(() => closeKeys(keys));
    const past = { seen: seenTokenIds(clock), approvals: approvals(clock) };
    const journal = await openJournal(configuration.journalFile, clock, (entry) => recall(entry, past));
    closing.push(() => journal.close());
    const connections = openConnections();
    closing.push(() => connections.close());
    // Calls to the users' channel are held for minutes: they must not take the service's places.
    const toUsers = openConnections(MOST_ASKED);
    closing.push(() => toUsers.close());
    const metrics = createMetrics();
    metrics.policyLoaded(true, clock());
    metrics.journalPosition(journal.position.seq);
    const apiKey = await readSecretFile(configuration.apiKeyFile);
    const current = { ...rules };
    const parts: RequestParts = {
      service: signingService(connections, sovereignAddress(configuration), apiKey),
      channel: await openChannel(configuration, toUsers, outside),
      get passkeys() {
        return current.passkeys;
      },
      policy: () => current.policy,
      keys,
      journal,
      metrics,
      limits: rateLimits(clock),
      ...past,
      log,
      clock,
    };
    const agent = startAgent(parts);
    closing.push(() => agent.stop());
    const served = await serveWhenWanted(configuration, parts, agent);
    closing.push(() => served?.close());
    log("info", "agent started", startedFields(parts));
    void sayWhetherReached(parts);
    return {
      ...inOrder({
        reload: () => reload(configuration, parts, (rules) => Object.assign(current, rules)),
        stop: async () => {
          await close();
          log("info", "agent stopped", { journal: journal.position });
        },
      }),
      isHealthy: agent.isHealthy,
      metricsPort: served?.port,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Reloads one after the other, since of two that overtake each other the older rules would stay; none after the stop. */
function inOrder({ reload, stop }: Pick<OpenAgent, "reload" | "stop">): Pick<OpenAgent, "reload" | "stop"> {
  let last = Promise.resolve();
  let stopped: Promise<void> | undefined;
  return {
    reload: () => {
      if (!stopped) last = last.then(reload);
      return last;
    },
    stop: () => {
      stopped ??= last.then(stop);
      return stopped;
    },
  };
}

interface Rules {
  readonly policy: Policy;
  readonly passkeys: Passkeys | undefined;
}

async function readRules({ policyFile, challenges }: Configuration): Promise<Rules> {
  const policy = parsePolicy(await readFile(policyFile, "utf8"), policyFile);
  const webauthn = challenges?.webauthn;
  if (!webauthn) return { policy, passkeys: undefined };
  const { rpId, origins, credentialsFile, userVerification = true } = webauthn;
  const credentials = parseCredentials(await readFile(credentialsFile, "utf8"), credentialsFile);
  return { policy, passkeys: { rpId, origins, userVerification, credentials } };
}

async function reload(
  configuration: Configuration,
  { journal, metrics, log, clock }: RequestParts,
  apply: (rules: Rules) => void,
): Promise<void> {
  try {
    apply(await readRules(configuration));
    metrics.policyLoaded(true, clock());
    log("info", "policy reloaded");
  } catch (error) {
    metrics.policyLoaded(false, clock());
    log("error", "the policy was not reloaded, the old one holds", { reason: reasonOf(error) });
  }
  await journal.reopen().catch((error: unknown) => {
    log("error", "the journal was not opened again", { reason: reasonOf(error) });
  });
}

/** What an earlier run signed is not signed again, and whom it asked is not asked again. */
function recall(entry: JournalEntry, past: Pick<RequestParts, "seen" | "approvals">): void {
  if (entry.event !== "signed") return;
  if (entry.jti !== null) past.seen.remember(entry.jti, entry.exp);
  const { clientId, sub, aud, scopes, requestId, time } = entry;
  // Who passed it in an earlier request has that one's quarter of an hour, not another for each request since.
  if (entry.use === "access_token" && entry.challenge !== null && entry.passedIn === undefined)
    past.approvals.remember(requestId, { clientId, sub, aud, scopes, at: new Date(time).getTime() });
}

async function openChannel(
  { challenges = {} }: Configuration,
  connections: Connections,
  { terminal, clock }: Outside,
): Promise<Channel | undefined> {
  const { channel, webhook } = challenges;
  if (channel === "webhook" && webhook)
    return webhookChannel(
      { url: webhook.url, secret: await readSecretFile(webhook.secretFile) },
      connections,
      clock,
    );
  return channel === "terminal" && terminal ? terminalChannel(terminal.input, terminal.output) : undefined;
}

async function serveWhenWanted({ metrics }: Configuration, parts: RequestParts, agent: RunningAgent) {
  return metrics && (await serveMetrics(metrics, parts.metrics.registry, agent.isHealthy));
}

function startedFields({ keys, journal, policy }: RequestParts): Record<string, unknown> {
  const shown = keys.map(({ kid, alg, place }) => ({ kid, alg, place }));
  return { keys: shown, issuer: policy().issuer, clients: policy().clients.size, journal: journal.position };
}

/** The first word with the service: an operator sees at once that the API key is wrong or a clock is off. */
async function sayWhetherReached(parts: RequestParts): Promise<void> {
  try {
    const { serverTime } = await parts.service.queue({ wait: 0, renew: [] });
    skewNotes(parts)(serverTime);
    parts.log("info", "the service answers");
  } catch (error) {
    parts.log("warn", "the service does not answer yet", { reason: reasonOf(error) });
  }
}
