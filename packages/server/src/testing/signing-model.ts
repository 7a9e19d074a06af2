/**
 * The state machine of a signing request as sovereign-signing.md §3 has it, second by second and without a database:
 * what the service does is compared with it.
 */
export interface ModelRequest {
  readonly id: string;
  readonly interactive: boolean;
  readonly createdAt: number;
  state: "pending" | "claimed" | "challenge" | "responded" | "signed" | "released" | "failed" | "expired";
  reason: string | null;
  expiresAt: number;
  attempts: number;
  /** The index of the lease that holds, in `leases`. */
  lease: number | undefined;
  leaseUntil: number;
  challenges: number;
  challengeId: string | undefined;
  challengeUntil: number;
  bad: number;
  /** Which lease signed. */
  signer: number | undefined;
  readonly refusedBy: Set<number>;
  readonly leases: ModelLease[];
}

export interface ModelLease {
  readonly agent: number;
  readonly token: string;
  /** Seconds. */
  iat: number;
}

/** Times are seconds. */
export interface SigningModel {
  now: number;
  readonly requests: ModelRequest[];
}

const isLeased = ({ state }: ModelRequest): boolean => ["claimed", "challenge", "responded"].includes(state);
export const isOver = ({ state }: ModelRequest): boolean => ["released", "failed", "expired"].includes(state);

export function fail(request: ModelRequest, reason: string): void {
  request.state = "failed";
  request.reason = reason;
  request.lease = undefined;
}

export function waitAgain(request: ModelRequest): void {
  request.state = "pending";
  request.lease = undefined;
  request.challengeId = undefined;
}

/** What each second does. */
export function passTime(model: SigningModel, seconds: number): void {
  for (let count = 0; count < seconds; count++) {
    model.now++;
    for (const request of model.requests) passSecond(request, model.now);
  }
}

function passSecond(request: ModelRequest, now: number): void {
  if (isOver(request)) return;
  if (request.expiresAt <= now) {
    request.state = "expired";
    request.lease = undefined;
  } else if (request.state === "challenge" && request.challengeUntil <= now)
    fail(request, "challenge_timeout");
  else if (isLeased(request) && request.leaseUntil <= now) {
    if (request.attempts >= 3) fail(request, "max_attempts");
    else waitAgain(request);
  }
}

/** Why a call with a lease is refused; undefined when it holds. */
export function modelRefusal(request: ModelRequest, lease: number): string | undefined {
  if (request.state === "expired") return "request_expired";
  if (request.state === "signed" || isOver(request)) return "already_final";
  return request.lease === lease ? undefined : "lease_lost";
}

export function modelClaim(request: ModelRequest, now: number, lease: ModelLease): void {
  request.state = "claimed";
  request.attempts++;
  request.lease = request.leases.push(lease) - 1;
  request.leaseUntil = now + 30;
}

/** @returns the outcome that is expected */
export function modelSign(request: ModelRequest, now: number, leaseIndex: number, isGood: boolean): string {
  const refusal = modelRefusal(request, leaseIndex);
  const isRepeat = isGood && refusal === "already_final" && request.signer === leaseIndex;
  if (isRepeat) return "signed";
  if (refusal) return refusal;
  if (!isGood) {
    if (++request.bad >= 3) fail(request, "bad_signatures");
    return "invalid_signed_jwt";
  }
  const lease = request.leases[leaseIndex];
  if (lease && now - lease.iat > 120) {
    lease.iat = now;
    return "stale_payload";
  }
  request.state = "signed";
  request.signer = leaseIndex;
  request.lease = undefined;
  request.expiresAt = Math.max(request.interactive ? request.expiresAt : 0, now + 120);
  return "signed";
}

/** @returns the outcome that is expected */
export function modelChallenge(request: ModelRequest, now: number, lease: number, id: string): string {
  const refusal = modelRefusal(request, lease);
  if (refusal) return refusal;
  if (!request.interactive) return "not_interactive";
  if (request.challengeId === id) return "challenge";
  if (request.state === "challenge" || request.challenges >= 3) return "challenge_limit";
  request.state = "challenge";
  request.challenges++;
  request.challengeId = id;
  request.challengeUntil = now + 120;
  request.leaseUntil = now + 45;
  return "challenge";
}

/** @returns the outcome that is expected */
export function modelRespond(request: ModelRequest, id: string): string {
  if (!isLeased(request) || request.challengeId !== id) return "stale_challenge";
  if (request.state === "responded") return "already_answered";
  request.state = "responded";
  return "accepted";
}

/** @returns whether it is expected to have done anything */
export function modelCancel(request: ModelRequest): boolean {
  if (request.state === "signed" || isOver(request)) return false;
  fail(request, "user_denied");
  return true;
}

export function modelRenew(request: ModelRequest, now: number, agent: number): boolean {
  const lease = request.lease === undefined ? undefined : request.leases[request.lease];
  if (!isLeased(request) || lease?.agent !== agent) return false;
  request.leaseUntil = now + (request.state === "challenge" ? 45 : 30);
  return true;
}
