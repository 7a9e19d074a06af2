/** What the work on a claimed request is done with, and what comes of it. */
import type { Log } from "@signet/cli-runtime/log";
import type { SignatureCount } from "../approvals/give-approval.ts";
import type { Peers } from "../approvals/peers.ts";
import type { Approvals } from "../challenges/approvals.ts";
import type { ChallengeDeps } from "../challenges/pass-challenge.ts";
import type { Journal } from "../journal/journal.ts";
import type { SignedRecord } from "../journal/verify-journal.ts";
import type { AgentKey } from "../keys/key-source.ts";
import type { LedgerWatch } from "../ledger/ledger-watch.ts";
import type { Policy } from "../policy/policy.ts";
import type { RateLimits } from "../policy/rate-limits.ts";
import type { SeenTokenIds } from "../policy/seen-token-ids.ts";
import type { SignBatches } from "../service/sign-batches.ts";
import type { ClaimedRequest, SigningService } from "../service/signing-service.ts";
import type { Member } from "./gathering.ts";
import type { LeasedRequest } from "./leased-requests.ts";
import type { Metrics } from "./metrics.ts";

export interface AgentDeps extends ChallengeDeps {
  readonly service: SigningService;
  readonly keys: readonly AgentKey[];
  readonly policy: () => Policy;
  readonly limits: RateLimits;
  readonly seen: SeenTokenIds;
  readonly approvals: Approvals;
  readonly journal: Journal;
  /** The pool's other agents, where a signature needs their approvals. */
  readonly peers?: Peers | undefined;
  readonly signatures: SignatureCount;
  /** The organisation's ledger, where nothing is signed unless it can be believed. */
  readonly ledger?: LedgerWatch | undefined;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: () => number;
}

/** `unable`: nothing is wrong with the request, but this agent cannot sign now (its journal, its key, it is stopping). */
export type Outcome = "signed" | "approved" | "refused" | "unable" | "lost" | "failed";

/** One of the requests that were claimed together. */
export interface Claim {
  readonly claimed: ClaimedRequest;
  readonly request: LeasedRequest;
  readonly member: Member;
  readonly batches: Pick<SignBatches, "sign">;
}

export interface Job extends AgentDeps, Claim {}

/** What the user has confirmed. */
export type PassedChallenge = Pick<SignedRecord, "challenge" | "passedIn">;
