/** Queues tokens for an agent of the pool, or joins the request that the same token request queued before. */
import { randomSecret } from "@signet/protocol/hash";
import { AGENT_SEEN_MS } from "../../../core/signing-pools/agent-key.ts";
import { isAgentSeen } from "../../../core/signing-pools/signing-agent.store.ts";
import type { SigningConnection } from "../../../core/tokens/claims.ts";
import type { AskedRequest } from "../../../core/tokens/signer.ts";
import { currentTracing } from "../../../telemetry/tracing.ts";
import { poolTopic } from "../notify/wake-up.ts";
import { assignWaiter, insertRequest, NO_WAITER } from "./create-request.store.ts";
import {
  type ClaimsToSign,
  countSignature,
  INTERACTIVE_TTL_MS,
  NON_INTERACTIVE_TTL_MS,
  type SealedClaims,
  type SigningDeps,
  sealJson,
} from "./signing-request.ts";

export interface NewSigningRequest {
  readonly orgId: string;
  readonly poolId: string;
  readonly applicationId: string;
  /** Null for client credentials, and for messages that tell of no user. */
  readonly userId: string | null;
  /** A message for somebody who has not authenticated: a small part of the queue is for such. */
  readonly isAnonymous?: true;
  readonly grantType: string;
  /** A browser waits: 300 s instead of 60, challenges are possible, and the request is queued even without an agent. */
  readonly interactive: boolean;
  /** The request whose tokens this one replaces. */
  readonly parentRequestId?: string;
  readonly clientName: string;
  readonly ip: string;
  /** That the user signed in by. */
  readonly connection?: SigningConnection;
  readonly request?: AskedRequest;
  /** `iat`, `exp` and `jti` are rendered anew at each claim; `exp - iat` is the application's token lifetime. */
  readonly claims: ClaimsToSign;
  /** SHA-256 (base64url) of the browser session that may open the wait page. */
  readonly browserSessionHash?: string;
  /** JSON: where the browser continues. Kept sealed until an hour after the end. */
  readonly continuation?: unknown;
  readonly joinKeyHash?: string;
  /** The call to the token endpoint that waits. */
  readonly waiter?: Waiter;
}

export interface Waiter {
  readonly id: string;
  /** Milliseconds after which the waiter counts as gone. */
  readonly ms: number;
}

/** 192 bits. */
const ID_BYTES = 24;

/** @returns `no_agent` when no agent of the pool was seen in the last minute and no browser waits; nothing is queued then */
export async function createRequest(
  deps: SigningDeps,
  input: NewSigningRequest,
): Promise<{ readonly requestId: string } | "no_agent" | "queue_full"> {
  const { orgId, poolId, interactive, waiter, claims, clientName, ip, connection, request } = input;
  const now = deps.clock();
  const key = { orgId, requestId: randomSecret("", ID_BYTES) };
  const traceParent = currentTracing()?.parent();
  const context = {
    clientName,
    ip,
    ...(connection && { connection }),
    ...(request && { request }),
    ...(traceParent !== undefined && { traceParent }),
  };
  const sealed: SealedClaims = { claims, context };
  const row = {
    org_id: orgId,
    id: key.requestId,
    pool_id: poolId,
    application_id: input.applicationId,
    user_id: input.userId,
    grant_type: input.grantType,
    interactive: interactive ? 1 : 0,
    parent_request_id: input.parentRequestId ?? null,
    claims: sealJson(deps.encryption, key, "claims", sealed),
    browser_session_hash: input.browserSessionHash ?? null,
    continuation:
      input.continuation === undefined
        ? null
        : sealJson(deps.encryption, key, "continuation", input.continuation),
    join_key_hash: input.joinKeyHash ?? null,
    waiter: waiter?.id ?? null,
    waiter_until: waiter ? now + waiter.ms : NO_WAITER,
    created_at: now,
    expires_at: now + (interactive ? INTERACTIVE_TTL_MS : NON_INTERACTIVE_TTL_MS),
  };
  const agentsSince = now - AGENT_SEEN_MS;
  if (await insertRequest(deps.database.query, row, { agentsSince, isAnonymous: input.isAnonymous })) {
    deps.wakeUp.notify(poolTopic(orgId, poolId));
    return { requestId: key.requestId };
  }
  countSignature(deps.count, { orgId, poolId }, "failed");
  const isSeen = await isAgentSeen(deps.database.query, { orgId, poolId, since: agentsSince });
  return isSeen || interactive ? "queue_full" : "no_agent";
}

/** Takes over a request that an earlier identical call queued and no longer waits for. */
export async function joinRequest(
  { database, clock }: SigningDeps,
  {
    waiter,
    ...which
  }: Required<Pick<NewSigningRequest, "orgId" | "applicationId" | "joinKeyHash" | "waiter">>,
): Promise<{ readonly requestId: string } | undefined> {
  const now = clock();
  const assigned = { ...which, waiter: waiter.id, until: now + waiter.ms, now };
  const requestId = await assignWaiter(database.query, assigned);
  return requestId === undefined ? undefined : { requestId };
}
