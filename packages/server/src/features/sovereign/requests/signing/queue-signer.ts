/**
 * Signs by an agent of the application's pool (sovereign-signing.md §4): queues what is to be signed, waits, and hands
 * out what came back. There is no other way from here to a signature: without an agent there is no token.
 */
import { randomUUID } from "node:crypto";
import { sha256Base64url } from "@signet/protocol/hash";
import type { Application } from "../../../../core/applications/application.ts";
import type { Clock } from "../../../../core/clock.ts";
import type { SigningPool } from "../../../../core/signing-pools/signing-pool.ts";
import type { BrowserOccasion, PoolSigning, SigningOutcome } from "../../../../core/tokens/pool-signing.ts";
import {
  type BegunSigning,
  claimsHash,
  type HeldTokens,
  type SigningOccasion,
  type TokensToSign,
} from "../../../../core/tokens/signer.ts";
import { familyOfTokenId } from "../../../../core/tokens/token-family.ts";
import type { Database, Db } from "../../../../db/open.ts";
import type { NewSigningRequest, ReleasedRequest, RequestStatus } from "../../agent-api/request-messages.ts";
import { browserSessionHash } from "../../wait/browser-session.ts";
import type { SovereignRequests } from "../sovereign-requests.ts";
import { noAgent, signingFailure, signingOutcome, unavailable } from "./signing-failure.ts";

export interface QueueSignerDeps {
  readonly clock: Clock;
  readonly database: Database;
  readonly requests: SovereignRequests;
  readonly pools: { find(orgId: string, poolId: string): Promise<SigningPool | undefined> };
}

/** After its wait the token endpoint still commits: until then nobody else may take the request up. */
const COMMIT_MS = 5_000;

/** Of a request that was just made. */
const NEW_SEQ = 1;

export function queueSigner(deps: QueueSignerDeps): PoolSigning {
  return {
    waitMs: async (application) => waitMsOf(await poolOf(deps, application)),
    sign: async (tokens, occasion) =>
      (await signedBefore(deps, tokens, occasion)) ?? (await signNow(deps, tokens, occasion)),
    begin: (tokens, occasion) => begin(deps, tokens, occasion),
    waitFor: async (orgId, requestId, ms) =>
      (await settled(deps.requests, { orgId, requestId, seq: 0 }, ms)).outcome,
    takeContinuation: async (db, which) => (await deps.requests.takeContinuation(db, which)) !== undefined,
    keepUntil: async (db, kept) => void (await deps.requests.keepUntil(db, kept)),
  };
}

const waitMsOf = ({ tokenWaitSeconds }: SigningPool): number => tokenWaitSeconds * 1000;

/** A pool that is away is no reason to sign with anything else. */
async function poolOf({ pools }: QueueSignerDeps, { orgId, settings }: Application): Promise<SigningPool> {
  const { signingPoolId } = settings;
  const pool = signingPoolId === undefined ? undefined : await pools.find(orgId, signingPoolId);
  if (!pool || pool.disabledAt !== null) throw noAgent();
  return pool;
}

/** What the browser waited for, if it still says what the tokens have to say and half of its time is left. */
async function signedBefore(
  deps: QueueSignerDeps,
  tokens: TokensToSign,
  { begun }: SigningOccasion,
): Promise<HeldTokens | undefined> {
  if (!begun || begun.claimsHash !== claimsHash(tokens)) return undefined;
  const { orgId } = tokens.application;
  const { requestId } = begun;
  const pool = await poolOf(deps, tokens.application);
  const status = await deps.requests.status(orgId, requestId);
  if (status?.state !== "signed" || status.poolId !== pool.id) return undefined;
  return isHalfSpent(status, deps.clock()) ? undefined : held(deps, { orgId, requestId, seen: status });
}

function isHalfSpent({ tokenExp, signedAt }: RequestStatus, now: number): boolean {
  if (tokenExp === null || signedAt === null) return true;
  return (tokenExp - now) * 2 < tokenExp - signedAt;
}

async function signNow(
  deps: QueueSignerDeps,
  tokens: TokensToSign,
  occasion: SigningOccasion,
): Promise<HeldTokens> {
  const { requests } = deps;
  const { application } = tokens;
  const { orgId } = application;
  const pool = await poolOf(deps, application);
  const waitMs = waitMsOf(pool);
  const waiter = { id: randomUUID(), ms: waitMs + COMMIT_MS };
  const key = joinKeyHash(pool, tokens, occasion);
  const joined = await requests.join({ orgId, applicationId: application.id, joinKeyHash: key, waiter });
  const request = { ...newRequest(pool, tokens, occasion), interactive: false, joinKeyHash: key, waiter };
  const { requestId } = joined ?? queued(await requests.create(request));
  // What has just been made waits, and needs no look.
  const { outcome, status: seen } = await settled(
    requests,
    { orgId, requestId, seq: joined ? 0 : NEW_SEQ },
    waitMs,
  );
  if (outcome === "signed" && seen) return held(deps, { orgId, requestId, waiter: waiter.id, seen });
  // Signing goes on: the same request again finds it.
  await requests.leave(orgId, requestId, waiter.id);
  throw outcome === "waiting" ? unavailable("no signing agent has signed yet") : outcome;
}

async function begin(
  deps: QueueSignerDeps,
  tokens: TokensToSign,
  occasion: BrowserOccasion,
): Promise<BegunSigning> {
  const pool = await poolOf(deps, tokens.application);
  const familyId = familyOfTokenId(tokens.accessToken.jti);
  if (familyId === undefined) throw new Error("tokens that a browser waits for name their family");
  const { waiting } = occasion;
  const { requestId } = queued(
    await deps.requests.create({
      ...newRequest(pool, tokens, occasion),
      interactive: waiting !== undefined,
      ...(waiting
        ? {
            browserSessionHash: browserSessionHash(waiting.sessionId),
            continuation: waiting.continuation,
          }
        : {}),
    }),
  );
  return { requestId, familyId, claimsHash: claimsHash(tokens) };
}

/**
 * By what a request that came too early finds, when it comes again, what it began: the refresh token or code that it shows,
 * the pool, and all that its tokens would say (two pools may sign in one name). Two that could not be answered with each
 * other's tokens never have the same.
 */
function joinKeyHash(
  { id: poolId }: SigningPool,
  tokens: TokensToSign,
  { grantType, proofHash }: SigningOccasion,
): string {
  const { application, accessToken } = tokens;
  const family = familyOfTokenId(accessToken.jti) ?? null;
  const parts = [poolId, grantType, application.id, proofHash ?? null, family, claimsHash(tokens)];
  return sha256Base64url(JSON.stringify(parts));
}

function newRequest(
  pool: SigningPool,
  { application, accessToken, idToken }: TokensToSign,
  { grantType, address, begun }: SigningOccasion,
): Omit<NewSigningRequest, "interactive"> {
  return {
    orgId: application.orgId,
    poolId: pool.id,
    applicationId: application.id,
    userId: grantType === "client_credentials" ? null : accessToken.sub,
    grantType,
    clientName: application.name,
    ip: address,
    claims: { accessToken, ...(idToken ? { idToken } : {}) },
    ...(begun ? { parentRequestId: begun.requestId } : {}),
  };
}

function queued(made: Awaited<ReturnType<SovereignRequests["create"]>>): { readonly requestId: string } {
  if (made === "no_agent") throw noAgent();
  if (made === "queue_full") throw unavailable("too much waits to be signed already");
  return made;
}

interface Settled {
  readonly outcome: SigningOutcome;
  readonly status?: RequestStatus;
}

/**
 * The outcome as soon as there is one, at the latest after `ms` (which is real time, whatever the clock says).
 * @param since.seq how far it was when it was looked at last
 */
async function settled(
  requests: SovereignRequests,
  since: { readonly orgId: string; readonly requestId: string; readonly seq: number },
  ms: number,
): Promise<Settled> {
  const { orgId, requestId } = since;
  const until = performance.now() + ms;
  let { seq } = since;
  for (;;) {
    const left = Math.max(0, until - performance.now());
    const status = await requests.waitFor(orgId, requestId, seq, left);
    if (!status) return { outcome: signingFailure(undefined) };
    const outcome = signingOutcome(status);
    // Nothing came: the time is over, or the server stops.
    if (outcome !== "waiting" || status.seq <= seq) return { outcome, status };
    ({ seq } = status);
  }
}

function held({ database, requests }: QueueSignerDeps, which: ReleasedRequest): HeldTokens {
  const releaseIn = async (db: Db) => {
    const released = await requests.release(db, which);
    if (!released) throw unavailable("the tokens were given to somebody else, or are too old");
    const { accessToken, idToken, exp } = released;
    return { accessToken, exp, ...(idToken === undefined ? {} : { idToken }) };
  };
  // Without anything to consume its one statement needs no transaction around it.
  return { release: (db) => releaseIn(db ?? database.query) };
}
