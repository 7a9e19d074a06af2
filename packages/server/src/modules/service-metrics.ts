/**
 * What is read of a service when Prometheus asks: numbers that are there at that moment. Those that cost a statement are read by
 * every node, as any of them may be asked, every few seconds at most; each reads from an index, and counts up to a limit.
 */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { countAllUnchained } from "../core/audit/chain/unchained.store.ts";
import { countUnsent } from "../core/audit/stream/stream.store.ts";
import { firstCaExpiry } from "../core/device-ca/ca-expiry.store.ts";
import { findDeliveryBacklog } from "../core/event-deliveries/delivery-backlog.store.ts";
import { POLLED, PUSHED, streamStatuses } from "../core/event-streams/event-stream.ts";
import { countStreams } from "../core/event-streams/stream-count.store.ts";
import { findOutboxBacklog } from "../core/outbox/outbox-backlog.store.ts";
import { oldestSigningKey } from "../core/signing-keys/key-age.store.ts";
import { AGENT_SEEN_MS } from "../core/signing-pools/agent-key.ts";
import { WEBHOOK } from "../core/webhooks/webhook.ts";
import type { Replica } from "../db/replica.ts";
import {
  countConnectedAgents,
  countOpenRequests,
} from "../features/sovereign/requests/open-requests.store.ts";
import { type Family, gauge, type Reading, readSometimes } from "../telemetry/families.ts";
import type { Service } from "./open-service.ts";

const OFTEN_MS = 5_000;
const SELDOM_MS = 60_000;

/** The same at every node: of several workers one value counts. */
const shared = (
  name: `signet_${string}`,
  help: string,
  read: () => Promise<Reading | undefined>,
  labels: readonly string[] = [],
): Family => gauge({ name, help, aggregator: "max" }, labels, read);

export function serviceMetrics(service: Service): readonly Family[] {
  return [
    ...connectionMetrics(service),
    ...queueMetrics(service),
    ...eventMetrics(service),
    ...keyMetrics(service),
  ];
}

function connectionMetrics({ database, changes }: Service): Family[] {
  return [
    gauge(
      {
        name: "signet_database_connections",
        help: "Connections to the database, in use and idle",
        aggregator: "sum",
      },
      ["state"],
      () => {
        const { inUse, idle } = database.connections();
        return [
          [["in_use"], inUse],
          [["idle"], idle],
        ];
      },
    ),
    gauge(
      {
        name: "signet_database_connections_waiting",
        help: "Requests that wait for a connection to the database",
        aggregator: "sum",
      },
      [],
      () => database.connections().waiting,
    ),
    ...(database.replica ? replicaMetrics(database.replica) : []),
    gauge(
      {
        name: "signet_change_feed_lag_seconds",
        help: "Time since changes of other nodes were certain to be heard; 0 while they are",
        aggregator: "max",
      },
      [],
      () => changes.lagMs() / 1_000,
    ),
  ];
}

/** Each node looks for itself. */
const replicaMetrics = (replica: Replica): Family[] => [
  gauge(
    {
      name: "signet_replica_lag_seconds",
      help: "By how much a read from the replica may be old; nothing until it is known",
      aggregator: "max",
    },
    [],
    () => {
      const lagMs = replica.lagMs();
      return Number.isFinite(lagMs) ? lagMs / 1_000 : undefined;
    },
  ),
  gauge(
    {
      name: "signet_replica_usable",
      help: "1 while the replica is read from; 0 while it is away, behind or no replica",
      aggregator: "max",
    },
    [],
    () => (replica.state() === "ok" ? 1 : 0),
  ),
];

function queueMetrics({ database: { query }, clock, config }: Service): Family[] {
  const auditLag = async () =>
    (await countAllUnchained(query)) + (config.auditStream ? await countUnsent(query) : 0);
  const backlog = readSometimes(OFTEN_MS, () => findOutboxBacklog(query));
  const open = readSometimes(OFTEN_MS, () => countOpenRequests(query, clock()));
  return [
    shared(
      "signet_outbox_messages",
      "Mails and back-channel logouts on their way, up to 10,000 of each",
      async () => (await backlog()).messages,
    ),
    shared("signet_outbox_oldest_age_seconds", "Age of the oldest of them; 0 without any", async () => {
      const { oldestAt } = await backlog();
      return oldestAt === null ? 0 : Math.max(0, clock() - oldestAt) / 1_000;
    }),
    shared(
      "signet_signing_requests",
      "Open requests for signatures of agents by state, up to 10,000",
      async () => {
        const found = new Map(await open());
        return ["pending", "claimed", "challenge", "responded"].map(
          (state) => [[state], found.get(state) ?? 0] as const,
        );
      },
      ["state"],
    ),
    shared(
      "signet_agents_connected",
      "Signing agents that were seen in the last minute",
      readSometimes(OFTEN_MS, () => countConnectedAgents(query, clock() - AGENT_SEEN_MS)),
    ),
    shared(
      "signet_audit_lag_events",
      "Audit events that are not chained yet, up to 10,000, and those that the audit stream has not sent",
      readSometimes(OFTEN_MS, auditLag),
    ),
  ];
}

/** What goes out to webhooks and receivers of shared signals. */
function eventMetrics({ database: { query }, clock }: Service): Family[] {
  const backlog = readSometimes(OFTEN_MS, () => findDeliveryBacklog(query));
  const streams = readSometimes(SELDOM_MS, () => countStreams(query));
  return [
    shared(
      "signet_event_streams",
      "Streams of security events by status, up to 10,000",
      async () => {
        const found = await streams();
        return streamStatuses.map((status) => [[status], found.get(status) ?? 0] as const);
      },
      ["status"],
    ),
    shared(
      "signet_event_deliveries",
      "Events that are not delivered yet by kind of receiver, up to 10,000",
      async () => {
        const found = await backlog();
        return eventReceivers.map((kind) => [[kind], found.get(kind)?.pending ?? 0] as const);
      },
      ["kind"],
    ),
    shared(
      "signet_event_deliveries_oldest_age_seconds",
      "Age of the oldest of them by kind of receiver; 0 without any",
      async () => {
        const found = await backlog();
        const age = (at: number | null | undefined) => (at ? Math.max(0, clock() - at) / 1_000 : 0);
        return eventReceivers.map((kind) => [[kind], age(found.get(kind)?.oldestAt)] as const);
      },
      ["kind"],
    ),
  ];
}

const eventReceivers = [WEBHOOK, PUSHED, POLLED] as const;

function keyMetrics({ database: { query }, clock, config }: Service): Family[] {
  const since = readSometimes(SELDOM_MS, () => oldestSigningKey(query));
  const ends = readSometimes(SELDOM_MS, async () => ({
    mtls: config.mtls && (await expiryOf(config.mtls.certificateFile)),
    "device-ca": await firstCaExpiry(query),
  }));
  return [
    shared(
      "signet_signing_key_age_seconds",
      "Time for which the oldest signing key of any organisation has signed",
      async () => {
        const at = await since();
        return at === undefined ? undefined : Math.max(0, clock() - at) / 1_000;
      },
    ),
    gauge(
      {
        name: "signet_certificate_expiry_seconds",
        help: "Time until the server's certificate for mutual TLS and the first device CA end",
        aggregator: "max",
      },
      ["certificate"],
      async () =>
        Object.entries(await ends()).flatMap(([name, at]) =>
          at === undefined ? [] : [[[name], (at - clock()) / 1_000] as const],
        ),
    ),
  ];
}

async function expiryOf(file: string): Promise<number> {
  return new X509Certificate(await readFile(file)).validToDate.getTime();
}
