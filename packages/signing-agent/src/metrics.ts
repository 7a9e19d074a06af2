/** What Prometheus may scrape. No label holds a user or a token, and each has few values. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

export interface Metrics {
  readonly registry: Registry;
  /** Outcome of a claimed request. */
  finished(outcome: "signed" | "refused" | "unable" | "lost" | "failed", seconds: number): void;
  refused(reason: string, check: string): void;
  signedTokens(use: string, alg: string): void;
  challenge(type: string, outcome: "asked" | "passed" | "failed"): void;
  serviceError(kind: string): void;
  reachedService(now: number): void;
  clockSkew(seconds: number): void;
  inFlight(count: number): void;
  waitingForUsers(count: number): void;
  journalPosition(seq: number): void;
  policyLoaded(isGood: boolean, now: number): void;
}

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30, 120];

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "signet_agent_" });
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `signet_agent_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string) => new Gauge({ name: `signet_agent_${name}`, help, registers });

  const duration = new Histogram({
    name: "signet_agent_request_duration_seconds",
    help: "From the claim to the end of a request",
    labelNames: ["outcome"],
    buckets: secondsBuckets,
    registers,
  });
  const refusals = counter("refusals_total", "Requests that the agent refused", ["reason", "check"]);
  const tokens = counter("tokens_signed_total", "Tokens signed", ["use", "alg"]);
  const challenges = counter("challenges_total", "Challenges by outcome", ["type", "outcome"]);
  const errors = counter("service_errors_total", "Calls that came to nothing", ["kind"]);
  const reached = gauge(
    "service_last_answer_timestamp_seconds",
    "When the service last answered as it should",
  );
  const skew = gauge("clock_skew_seconds", "The service's clock minus this machine's");
  const inFlight = gauge("requests_in_flight", "Requests that are checked and signed now");
  const waiting = gauge("challenges_waiting", "Requests that wait for a user's answer");
  const journal = gauge("journal_entries", "Number of the journal's last entry");
  const policy = gauge("policy_last_reload_success", "1 when the last reload of the policy worked");
  const policyAt = gauge("policy_loaded_timestamp_seconds", "When the policy that holds was loaded");
  return {
    registry,
    finished: (outcome, seconds) => duration.observe({ outcome }, seconds),
    refused: (reason, check) => refusals.inc({ reason, check }),
    signedTokens: (use, alg) => tokens.inc({ use, alg }),
    challenge: (type, outcome) => challenges.inc({ type, outcome }),
    serviceError: (kind) => errors.inc({ kind }),
    reachedService: (now) => reached.set(now / 1000),
    clockSkew: (seconds) => skew.set(seconds),
    inFlight: (count) => inFlight.set(count),
    waitingForUsers: (count) => waiting.set(count),
    journalPosition: (seq) => journal.set(seq),
    policyLoaded: (isGood, now) => {
      policy.set(isGood ? 1 : 0);
      if (isGood) policyAt.set(now / 1000);
    },
  };
}
