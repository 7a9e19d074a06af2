/** Opens everything a configuration names and starts the agent: `signet-agent run`. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { acquireLock } from "@signet/cli-runtime/exclusive-lock";
import type { Log } from "@signet/cli-runtime/log";
import { readSecretFile } from "@signet/cli-runtime/private-file";
import { describeError } from "@signet/cli-runtime/redact";
import { openPeers } from "../approvals/peers.ts";
import { approvals } from "../challenges/approvals.ts";
import { type Channel, terminalChannel, webhookChannel } from "../challenges/channel.ts";
import { type Passkeys, parseCredentials } from "../challenges/passkeys.ts";
import type { AgentIo } from "../commands/options.ts";
import type { Configuration } from "../configuration/configuration.ts";
import { type Journal, openJournal } from "../journal/journal.ts";
import type { JournalEntry } from "../journal/verify-journal.ts";
import { closeKeys, openKeys } from "../keys/open-keys.ts";
import { openLedgerWatch } from "../ledger/ledger-watch.ts";
import { type Policy, parsePolicy } from "../policy/policy.ts";
import { rateLimits } from "../policy/rate-limits.ts";
import { seenTokenIds } from "../policy/seen-token-ids.ts";
import { type JsonClient, openJsonClient } from "../service/json-client.ts";
import { signingService, sovereignUrl } from "../service/signing-service.ts";
import { openFrostSigner } from "../threshold/frost-signer.ts";
import { countBoot, nonceStock } from "../threshold/nonces.ts";
import { openSealedFolder } from "../threshold/sealed-folder.ts";
import { startThresholdAgent } from "../threshold/threshold-agent.ts";
import { type ThresholdService, thresholdService } from "../threshold/threshold-service.ts";
import { type RunningAgent, startAgent } from "./agent.ts";
import type { AgentDeps } from "./agent-deps.ts";
import { createMetrics, type Metrics, serveMetrics } from "./metrics.ts";
import { clockSkewReporter } from "./renew-leases.ts";

export type OpenAgent = Awaited<ReturnType<typeof openAgent>>;

/** Questions to users at the same time, through the webhook. */
const MAX_WEBHOOK_CALLS = 2_000;

export interface OpenAgentDeps {
  readonly log: Log;
  readonly clock: () => number;
  readonly terminal?: AgentIo["terminal"];
}

/** @throws Error for any file that is wrong; a service that is down is not an error */
export async function openAgent(configuration: Configuration, deps: OpenAgentDeps) {
  const { log, clock } = deps;
  await using resources = new AsyncDisposableStack();
  const current = await readRules(configuration);
  const keys = await openKeys(configuration.keys);
  resources.defer(() => closeKeys(keys));
  const memory = { seen: seenTokenIds(clock), approvals: approvals(clock), signatures: { value: 0 } };
  const journal = await openJournal(configuration.journalFile, clock, (entry) => restore(entry, memory));
  resources.defer(() => journal.close());
  const client = openJsonClient();
  resources.defer(() => client.close());
  // Webhook calls stay open for minutes and must not use up the connections to the service.
  const webhookClient = openJsonClient(MAX_WEBHOOK_CALLS);
  resources.defer(() => webhookClient.close());
  const metrics = startingMetrics(journal, clock);
  const apiKey = await readSecretFile(configuration.apiKeyFile);
  const credential = { service: configuration.service, apiKey };
  const agentDeps: AgentDeps = {
    service: signingService(client, sovereignUrl(configuration), apiKey),
    channel: await openChannel(configuration, webhookClient, deps),
    passkeys: () => current.passkeys,
    policy: () => current.policy,
    limits: rateLimits(clock),
    ...{ keys, journal, metrics, log, clock, ...memory },
    peers: configuration.approvals && openPeers(configuration.approvals, keys),
    ledger: configuration.ledger && (await openLedgerWatch(configuration.ledger, { log, clock, credential })),
  };
  const agent = configuration.threshold
    ? await openThresholdAgent(configuration.threshold, agentDeps, {
        service: thresholdService(client, sovereignUrl(configuration), apiKey),
        resources,
      })
    : startAgent(agentDeps);
  resources.defer(() => agent.stop());
  const served =
    configuration.metrics && (await serveMetrics(configuration.metrics, metrics.registry, agent.isHealthy));
  resources.defer(() => served?.close());
  log("info", "agent started", {
    keys: keys.map(({ kid, alg, location }) => ({ kid, alg, place: location })),
    issuer: current.policy.issuer,
    clients: current.policy.clients.size,
    journal: journal.position,
  });
  void checkService(agentDeps);
  const opened = resources.move();
  const stop = async () => {
    await opened.disposeAsync();
    log("info", "agent stopped", { journal: journal.position });
  };
  return {
    ...inOrder(() => reload(configuration, agentDeps, current), stop),
    isHealthy: agent.isHealthy,
    /** Undefined when the configuration names no port. */
    metricsPort: served?.port,
  };
}

function startingMetrics({ position }: Journal, clock: () => number): Metrics {
  const metrics = createMetrics();
  metrics.policyReloaded.set(1);
  metrics.policyLoadedAt.set(clock() / 1000);
  metrics.journalEntries.set(position.seq);
  return metrics;
}

/** Counts this start before anything else: no nonce of an earlier one is ever used. */
async function openThresholdAgent(
  threshold: NonNullable<Configuration["threshold"]>,
  deps: AgentDeps,
  { service, resources }: { service: ThresholdService; resources: AsyncDisposableStack },
): Promise<RunningAgent> {
  const sealed = await openSealedFolder(threshold);
  const unlock = acquireLock(path.join(threshold.folder, "lock.db"));
  resources.defer(unlock);
  const boot = await countBoot(sealed);
  const signer = await openFrostSigner();
  const stock = nonceStock(sealed, boot, signer);
  return startThresholdAgent({ ...deps, service, sealed, boot, stock, signer });
}

/** One reload at a time, so that the file written last wins; none after the stop, which happens once. */
function inOrder(reload: () => Promise<void>, stop: () => Promise<void>) {
  let last = Promise.resolve();
  let stopped: Promise<void> | undefined;
  return {
    /** Reads policy and passkeys again and reopens the journal; what cannot be read leaves the old one in place. */
    reload: (): Promise<void> => {
      if (!stopped) last = last.then(reload);
      return last;
    },
    /** Takes at most 20 seconds. */
    stop: (): Promise<void> => {
      stopped ??= last.then(stop);
      return stopped;
    },
  };
}

interface Rules {
  policy: Policy;
  passkeys: Passkeys | undefined;
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
  { journal, metrics, log, clock }: AgentDeps,
  current: Rules,
): Promise<void> {
  try {
    Object.assign(current, await readRules(configuration));
    metrics.policyReloaded.set(1);
    metrics.policyLoadedAt.set(clock() / 1000);
    log("info", "policy reloaded");
  } catch (error) {
    metrics.policyReloaded.set(0);
    log("error", "policy not reloaded: the old one stays in force", { reason: describeError(error) });
  }
  await journal.reopen().catch((error: unknown) => {
    log("error", "journal not reopened", { reason: describeError(error) });
  });
}

/** What an earlier run signed is not signed again, and users who passed a challenge then are not asked again. */
function restore(
  entry: JournalEntry,
  { seen, approvals, signatures }: Pick<AgentDeps, "seen" | "approvals" | "signatures">,
): void {
  if (entry.event === "refused") return;
  // Tokens that were signed together are one.
  if (entry.requestId !== signatures.last) signatures.value += 1;
  signatures.last = entry.requestId;
  signatures.value = Math.max(signatures.value, entry.count ?? 0);
  if (entry.jti !== null && entry.exp !== null) seen.remember(entry.jti, entry.exp);
  const { clientId, sub, aud, scopes, requestId, time } = entry;
  // An approval inherited from an earlier request keeps that one's time: it is not extended with each request.
  if (
    entry.use === "access_token" &&
    sub !== null &&
    entry.challenge !== null &&
    entry.passedIn === undefined
  )
    approvals.remember(requestId, { clientId, sub, aud, scopes, at: new Date(time).getTime() });
}

async function openChannel(
  { challenges: { channel, webhook } = {} }: Configuration,
  client: JsonClient,
  { terminal, clock }: OpenAgentDeps,
): Promise<Channel | undefined> {
  if (channel === "webhook" && webhook) {
    const secret = await readSecretFile(webhook.secretFile);
    return webhookChannel({ url: webhook.url, secret }, client, clock);
  }
  return channel === "terminal" && terminal ? terminalChannel(terminal.input, terminal.output) : undefined;
}

/** Tells the operator at once that the API key is wrong or a clock is off. */
async function checkService(deps: AgentDeps): Promise<void> {
  try {
    const { serverTime } = await deps.service.queue({ wait: 0, renew: [] });
    clockSkewReporter(deps)(serverTime);
    deps.log("info", "the service answers");
  } catch (error) {
    deps.log("warn", "the service does not answer yet", { reason: describeError(error) });
  }
}
