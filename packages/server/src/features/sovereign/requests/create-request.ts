/** How a signing request begins, and how a caller who comes again finds it. */
import { randomSecret } from "@signet/protocol/hash";
import { AGENT_SEEN_MS } from "../../../core/signing-pools/agent-key.ts";
import { isAgentSeen } from "../../../core/signing-pools/signing-pools.store.ts";
import type { JoinedRequest, NewSigningRequest } from "../agent-api/request-messages.ts";
import { poolTopic } from "../notify/wake-up.ts";
import { countSignature } from "./count-signature.ts";
import type { RequestDeps } from "./request-deps.ts";
import { sealJson } from "./sealed-json.ts";
import { insertRequest, joinRequest, NOBODY } from "./signing-request.store.ts";
import { type ClaimsToSign, TTL_WITH_BROWSER_MS, TTL_WITHOUT_BROWSER_MS } from "./signing-request.ts";

/** 192 bits. */
const ID_BYTES = 24;

/** What each claim renders the tokens from, and what the agent is told beside them and what they say themselves. */
export interface SealedClaims {
  readonly claims: ClaimsToSign;
  readonly context: { readonly clientName: string; readonly ip: string };
}

export async function createRequest(
  deps: RequestDeps,
  input: NewSigningRequest,
): Promise<{ readonly requestId: string } | "no_agent" | "queue_full"> {
  const { orgId, poolId, interactive, waiter } = input;
  const now = deps.clock();
  const requestId = randomSecret("", ID_BYTES);
  const seal = (column: "claims" | "continuation", value: unknown) =>
    sealJson(deps.encryption, { orgId, requestId }, column, value);
  const { claims, clientName, ip } = input;
  const sealed: SealedClaims = { claims, context: { clientName, ip } };
  const row = {
    org_id: orgId,
    id: requestId,
    pool_id: poolId,
    application_id: input.applicationId,
    user_id: input.userId,
    grant_type: input.grantType,
    interactive: interactive ? 1 : 0,
    parent_request_id: input.parentRequestId ?? null,
    claims: seal("claims", sealed),
    browser_session_hash: input.browserSessionHash ?? null,
    continuation: input.continuation === undefined ? null : seal("continuation", input.continuation),
    join_key_hash: input.joinKeyHash ?? null,
    waiter: waiter?.id ?? null,
    waiter_until: waiter ? now + waiter.ms : NOBODY,
    created_at: now,
    expires_at: now + (interactive ? TTL_WITH_BROWSER_MS : TTL_WITHOUT_BROWSER_MS),
  };
  const agentsSince = now - AGENT_SEEN_MS;
  if (await insertRequest(deps.database.query, row, agentsSince)) {
    deps.wakeUp.wake(poolTopic(orgId, poolId));
    return { requestId };
  }
  // A pool that is gone or disabled has no agents either: the door of the agents is shut.
  countSignature(deps.count, { orgId, poolId }, "failed");
  const isSeen = await isAgentSeen(deps.database.query, { orgId, poolId, since: agentsSince });
  return isSeen || interactive ? "queue_full" : "no_agent";
}

export async function joinWaiting(
  deps: RequestDeps,
  { waiter, ...which }: JoinedRequest,
): Promise<{ readonly requestId: string } | undefined> {
  const now = deps.clock();
  const requestId = await joinRequest(deps.database.query, {
    ...which,
    waiter: waiter.id,
    until: now + waiter.ms,
    now,
  });
  return requestId === undefined ? undefined : { requestId };
}
