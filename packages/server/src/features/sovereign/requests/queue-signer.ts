/**
 * The signer of applications with a signing pool (sovereign-signing.md §4): queues tokens and messages, waits for an agent of the
 * pool, and releases what it signed. Nothing else signs for such an application: without an agent there is no token.
 */

import { randomUUID } from "node:crypto";
import { sha256Base64url } from "@signet/protocol/hash";
import type { Application } from "../../../core/applications/application.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { browserSessionHash } from "../../../core/signing-pools/user-requests.store.ts";
import type {
  BrowserSigningContext,
  PoolSigning,
  SigningOutcome,
} from "../../../core/tokens/pool-signing.ts";
import {
  type MessageContext,
  type MessageToSign,
  messageHash,
  type SignedMessage,
} from "../../../core/tokens/signed-message.ts";
import {
  claimsHash,
  type HeldTokens,
  type SigningContext,
  type SigningRequestRef,
  type TokensToSign,
} from "../../../core/tokens/signer.ts";
import { familyIdFromTokenId } from "../../../core/tokens/token-family.ts";
import type { Db } from "../../../db/open.ts";
import { inSpan } from "../../../telemetry/tracing.ts";
import { removeWaiter } from "./create-request.store.ts";
import { createRequest, joinRequest, type NewSigningRequest } from "./create-request.ts";
import { keepTokens, peekSigned, releaseJwts, releaseTokens, takeContinuation } from "./release-request.ts";
import {
  noAgent,
  type RequestStatus,
  requestStatus,
  signingExpired,
  signingOutcome,
  unavailable,
  waitForChange,
} from "./request-status.ts";
import type { ClaimsToSign, RequestKey, SigningDeps } from "./signing-request.ts";

/** After its wait the token endpoint still commits: until then no other call may join the request. */
const COMMIT_MS = 5_000;

const NEW_SEQ = 1;

export function queueSigner(deps: SigningDeps): PoolSigning {
  return {
    waitMs: async (application) => (await requirePool(deps, application)).tokenWaitSeconds * 1000,
    sign: async (tokens, signingContext) =>
      (await signedForBrowser(deps, tokens, signingContext)) ?? (await signNow(deps, tokens, signingContext)),
    signMessage: (message, context) => signMessage(deps, message, context),
    signedResponse: async (key) => {
      const status = await requestStatus(deps, key);
      const signed = status?.state === "signed" ? peekSigned(deps, status) : undefined;
      return signed?.jwts.authorization_response;
    },
    begin: (tokens, signingContext) => begin(deps, tokens, signingContext),
    waitFor: async (orgId, requestId, ms) =>
      (await waitInSpan(deps, { orgId, requestId }, { sinceSeq: 0, ms })).outcome,
    takeContinuation: async (db, key) => (await takeContinuation(deps, db, key)) !== undefined,
    keepUntil: async (db, which) => void (await keepTokens(deps, db, which)),
  };
}

/** @throws OAuthError when the pool is disabled or deleted: no other key signs instead */
async function requirePool({ pools }: SigningDeps, { orgId, settings }: Application): Promise<SigningPool> {
  const { signingPoolId } = settings;
  const pool = signingPoolId === undefined ? undefined : await pools.find(orgId, signingPoolId);
  if (!pool || pool.disabledAt !== null) throw noAgent();
  return pool;
}

/** What was signed while the browser waited, if its claims are still right and half of its lifetime is left. */
async function signedForBrowser(
  deps: SigningDeps,
  tokens: TokensToSign,
  { signingRequest }: SigningContext,
): Promise<HeldTokens | undefined> {
  if (!signingRequest || signingRequest.claimsHash !== claimsHash(tokens)) return undefined;
  const pool = await requirePool(deps, tokens.application);
  const { orgId } = tokens.application;
  const status = await requestStatus(deps, { orgId, requestId: signingRequest.requestId });
  if (status?.state !== "signed" || status.poolId !== pool.id) return undefined;
  return isHalfSpent(status, deps.clock()) ? undefined : holdTokens(deps, status);
}

function isHalfSpent({ tokenExp, signedAt }: RequestStatus, now: number): boolean {
  if (tokenExp === null || signedAt === null) return true;
  return (tokenExp - now) * 2 < tokenExp - signedAt;
}

async function signNow(
  deps: SigningDeps,
  tokens: TokensToSign,
  signingContext: SigningContext,
): Promise<HeldTokens> {
  const pool = await requirePool(deps, tokens.application);
  const joinKeyHash = joinKey(pool, tokens, signingContext);
  const request = { ...newRequest(pool, tokens, signingContext), joinKeyHash };
  const { status, waiterId } = await queueAndWait(deps, pool, request);
  return holdTokens(deps, status, waiterId);
}

/** Nothing is consumed by a message, and so it is released as soon as it is signed. */
async function signMessage(
  deps: SigningDeps,
  message: MessageToSign,
  context: MessageContext,
): Promise<SignedMessage> {
  const pool = await requirePool(deps, context.application);
  const { status, waiterId } = await queueAndWait(deps, pool, messageRequest(pool, message, context));
  const released = await releaseJwts(deps, deps.database.query, status, waiterId);
  const jws = released?.jwts[message.use];
  if (!released || jws === undefined) throw unavailable("the message has expired, or was told before");
  return { jws, exp: released.exp };
}

type WaitedRequest = Omit<NewSigningRequest, "interactive" | "waiter" | "joinKeyHash"> & {
  readonly joinKeyHash: string;
};

/**
 * Joins the same request of an earlier call that nobody waits for any more, or queues it.
 * @returns its status once it is signed
 * @throws OAuthError when it is not in time: it stays queued, and a repeated call joins it
 */
async function queueAndWait(
  deps: SigningDeps,
  { tokenWaitSeconds }: SigningPool,
  request: WaitedRequest,
): Promise<{ readonly status: RequestStatus; readonly waiterId: string }> {
  const { orgId, applicationId, joinKeyHash } = request;
  const ms = tokenWaitSeconds * 1000;
  const waiter = { id: randomUUID(), ms: ms + COMMIT_MS };
  const joined = await joinRequest(deps, { orgId, applicationId, joinKeyHash, waiter });
  const { requestId } = joined ?? (await queue(deps, { ...request, interactive: false, waiter }));

  // A new request is pending: its first status need not be read.
  const sinceSeq = joined ? 0 : NEW_SEQ;
  const { outcome, status } = await waitInSpan(deps, { orgId, requestId }, { sinceSeq, ms });
  if (outcome === "signed" && status) return { status, waiterId: waiter.id };
  await removeWaiter(deps.database.query, { orgId, requestId }, waiter.id);
  throw outcome === "waiting" ? unavailable("no signing agent has signed yet") : outcome;
}

/** Queues tokens that a browser waits for on the wait page, or with `prompt=none` without one. */
async function begin(
  deps: SigningDeps,
  tokens: TokensToSign,
  signingContext: BrowserSigningContext,
): Promise<SigningRequestRef> {
  const pool = await requirePool(deps, tokens.application);
  const familyId = familyIdFromTokenId(tokens.accessToken.jti);
  if (familyId === undefined) throw new Error("tokens of a browser flow must name their family");
  const { waiting, response } = signingContext;
  const browser = waiting && {
    browserSessionHash: browserSessionHash(waiting.sessionId),
    continuation: waiting.continuation,
  };
  const interactive = waiting !== undefined;
  const request = { ...newRequest(pool, tokens, signingContext), interactive, ...browser };
  const claims: ClaimsToSign = response ? { ...request.claims, message: response } : request.claims;
  const { requestId } = await queue(deps, { ...request, claims });
  const { requestSigned = null } = tokens.request ?? {};
  return { requestId, familyId, claimsHash: claimsHash(tokens), requestSigned };
}

/**
 * Identifies a repeated token request: the refresh token or code it presents, the pool, and all claims of its tokens (two
 * pools may share an issuer). Requests that must not get each other's tokens never have the same key.
 */
function joinKey(
  { id: poolId }: SigningPool,
  tokens: TokensToSign,
  { grantType, proofHash }: SigningContext,
): string {
  const { application, accessToken } = tokens;
  const family = familyIdFromTokenId(accessToken.jti) ?? null;
  const parts = [poolId, grantType, application.id, proofHash ?? null, family, claimsHash(tokens)];
  return sha256Base64url(JSON.stringify(parts));
}

function newRequest(
  pool: SigningPool,
  { application, accessToken, idToken, connection, request }: TokensToSign,
  { grantType, address, signingRequest }: SigningContext,
): Omit<NewSigningRequest, "interactive"> {
  return {
    orgId: application.orgId,
    poolId: pool.id,
    applicationId: application.id,
    userId: grantType === "client_credentials" ? null : accessToken.sub,
    grantType,
    clientName: application.name,
    ip: address,
    ...(connection ? { connection } : {}),
    ...(request
      ? {
          request: {
            ...request,
            requestSigned: request.requestSigned ?? signingRequest?.requestSigned ?? null,
          },
        }
      : {}),
    claims: { accessToken, ...(idToken ? { idToken } : {}) },
    ...(signingRequest ? { parentRequestId: signingRequest.requestId } : {}),
  };
}

/** Of a message alone. Whoever asks for the same again, once nobody waits for it any more, gets the same. */
function messageRequest(
  { id: poolId }: SigningPool,
  message: MessageToSign,
  { application, address, grantType, userId, proofHash, isAnonymous, ...context }: MessageContext,
): WaitedRequest {
  const { resources = [], requestSigned = null } = context;
  const { orgId, id, name, settings, source } = application;
  const parts = [poolId, grantType, id, proofHash ?? null, userId, messageHash(message), requestSigned];
  const asked = { securityProfile: settings.securityProfile, resources, clientSource: source };
  return {
    ...{ orgId, poolId, applicationId: id, userId, grantType, clientName: name, ip: address },
    request: { ...asked, requestSigned },
    claims: { message },
    joinKeyHash: sha256Base64url(JSON.stringify(parts)),
    ...(isAnonymous ? { isAnonymous } : {}),
  };
}

async function queue(deps: SigningDeps, request: NewSigningRequest): Promise<{ readonly requestId: string }> {
  const created = await createRequest(deps, request);
  if (created === "no_agent") throw noAgent();
  if (created === "queue_full") throw unavailable("the signing queue is full");
  return created;
}

const waitInSpan = (deps: SigningDeps, key: RequestKey, wait: Parameters<typeof waitForOutcome>[2]) =>
  inSpan("signing queue wait", waitForOutcome, deps, key, wait);

/** The outcome as soon as there is one, at most after `ms` of real time, whatever the clock says. */
async function waitForOutcome(
  deps: SigningDeps,
  key: RequestKey,
  { sinceSeq, ms }: { readonly sinceSeq: number; readonly ms: number },
): Promise<{ readonly outcome: SigningOutcome; readonly status?: RequestStatus }> {
  const deadline = performance.now() + ms;
  let seq = sinceSeq;
  for (;;) {
    const left = Math.max(0, deadline - performance.now());
    const status = await waitForChange(deps, key, { sinceSeq: seq, ms: left });
    if (!status) return { outcome: signingExpired() };
    const outcome = signingOutcome(status);
    // Without a change the time is over, or the server stops.
    if (outcome !== "waiting" || status.seq <= seq) return { outcome, status };
    ({ seq } = status);
  }
}

function holdTokens(deps: SigningDeps, signed: RequestStatus, waiter?: string): HeldTokens {
  return {
    // Without a grant to consume, the single statement needs no transaction.
    release: async (db: Db = deps.database.query) => {
      const released = await releaseTokens(deps, db, signed, waiter);
      if (!released) throw unavailable("the tokens were released before, or have expired");
      const { accessToken, idToken, exp } = released;
      return { accessToken, exp, ...(idToken === undefined ? {} : { idToken }) };
    },
  };
}
