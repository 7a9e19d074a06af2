/** Polls the queue while requests are open: renews their leases and brings users' answers. */
import { backoff, pause } from "@signet/cli-runtime/backoff";
import { describeError } from "@signet/cli-runtime/redact";
import { wasCancelled } from "../service/json-client.ts";
import { ServiceError } from "../service/signing-service.ts";
import type { AgentDeps } from "./agent-deps.ts";
import { countServiceError, SERVICE_BACKOFF } from "./handle-request.ts";
import type { LeasedRequests } from "./leased-requests.ts";

const RENEWAL_MS = 1_000;
/** How soon after a challenge the first poll waits for its answer. */
const IDLE_MS = 200;
/** Longest wait of one poll for users' answers: leases of 45 s are renewed in between. */
const POLL_WAIT_SECONDS = 10;
/** The service's limit for one poll. */
const MAX_RENEWED = 50;

interface RenewalOptions {
  readonly leased: LeasedRequests;
  readonly onServiceAnswer: () => void;
  /** From here on no poll waits. */
  readonly stopping: AbortSignal;
  readonly ended: AbortSignal;
}

export async function renewLeases(deps: AgentDeps, options: RenewalOptions): Promise<void> {
  const { leased, onServiceAnswer, stopping, ended } = options;
  const failures = backoff(SERVICE_BACKOFF);
  const reportSkew = clockSkewReporter(deps);
  while (!ended.aborted) {
    const due = leased.dueForRenewal();
    if (due.length === 0) {
      await pause(IDLE_MS, ended);
      continue;
    }
    const startedAt = performance.now();
    try {
      for (let start = 0; start < due.length; start += MAX_RENEWED) {
        const isLast = start + MAX_RENEWED >= due.length;
        const waits = isLast && leased.counts.waiting > 0 && !stopping.aborted;
        const how = waits ? { wait: POLL_WAIT_SECONDS, signal: stopping } : { wait: 0, signal: ended };
        const renew = due.slice(start, start + MAX_RENEWED);
        const answer = await deps.service.queue({ ...how, renew, known: leased.knownChallenges() });
        onServiceAnswer();
        failures.reset();
        leased.applyPoll(answer);
        reportSkew(answer.serverTime);
      }
    } catch (error) {
      // The stop cancelled a waiting poll; the next one does not wait.
      if (stopping.aborted && wasCancelled(error, stopping.reason)) continue;
      countServiceError(error, deps);
      deps.log("warn", "leases were not renewed", { reason: describeError(error) });
      await pause(failures.next(error instanceof ServiceError ? error.retryAfter : undefined), ended);
    }
    await pause(Math.max(0, RENEWAL_MS - (performance.now() - startedAt)), ended);
  }
}

/** Beyond a minute nothing is signed: the operator should know earlier. */
const REPORTED_SKEW_SECONDS = 10;
const REPORT_INTERVAL_MS = 60_000;

/** Compares the service's clock with this machine's, and warns at most once a minute. */
export function clockSkewReporter({ metrics, log, clock }: Pick<AgentDeps, "metrics" | "log" | "clock">) {
  let reportedAt = Number.NEGATIVE_INFINITY;
  return (serverTime: string | number): void => {
    const seconds = (new Date(serverTime).getTime() - clock()) / 1000;
    if (!Number.isFinite(seconds)) return;
    metrics.clockSkew.set(seconds);
    const isRecent = performance.now() - reportedAt < REPORT_INTERVAL_MS;
    if (Math.abs(seconds) <= REPORTED_SKEW_SECONDS || isRecent) return;
    reportedAt = performance.now();
    log("warn", "the service's clock and this machine's differ", { seconds: Math.round(seconds) });
  };
}
