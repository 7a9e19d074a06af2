/** What a metrics listener tells, as Prometheus would read it. */
import assert from "node:assert/strict";

/** The families of operable.md, "Names, to the letter", and those beside them. */
export const familyNames = [
  "signet_http_request_duration_seconds",
  "signet_password_queue_wait_seconds",
  "signet_signing_request_wait_seconds",
  "signet_database_acquire_seconds",
  "signet_database_statement_seconds",
  "signet_token_requests_total",
  "signet_sign_ins_total",
  "signet_rate_limit_refusals_total",
  "signet_cache_requests_total",
  "signet_password_queue_depth",
  "signet_signing_requests",
  "signet_agents_connected",
  "signet_waiters",
  "signet_database_connections",
  "signet_database_connections_waiting",
  "signet_outbox_messages",
  "signet_outbox_oldest_age_seconds",
  "signet_event_streams",
  "signet_event_deliveries",
  "signet_event_deliveries_oldest_age_seconds",
  "signet_audit_lag_events",
  "signet_signing_key_age_seconds",
  "signet_certificate_expiry_seconds",
  "signet_change_feed_lag_seconds",
  "signet_replica_reads_total",
  "nodejs_eventloop_lag_seconds",
  "process_cpu_seconds_total",
  "process_resident_memory_bytes",
] as const;

export interface Scrape {
  readonly text: string;
  /** Name to type. */
  readonly types: ReadonlyMap<string, string>;
  /** The sum of all samples of the name whose labels contain these. */
  sum(name: string, labels?: string): number;
}

export async function scrape(port: number): Promise<Scrape> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
  return readScrape(await answer.text());
}

export function readScrape(text: string): Scrape {
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [name, type] as const),
  );
  const samples = [...text.matchAll(/^([a-z_]+)(?:\{(.*)\})? (\S+)$/gm)];
  return {
    text,
    types,
    sum: (name, labels = "") =>
      samples
        .filter(([, one, of = ""]) => one === name && of.includes(labels))
        .reduce((sum, [, , , value]) => sum + Number(value), 0),
  };
}
