/** Authenticates an agent by its API key. */
import { sha256Base64url } from "@signet/protocol/hash";
import type { FastifyRequest } from "fastify";
import type { Clock } from "../../../core/clock.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import {
  countAttempt,
  networkPrefix,
  RateLimited,
  type RateLimits,
  rateLimitHeaders,
} from "../../../core/rate-limits/rate-limits.ts";
import { findAgentByApiKey, recordAgentSeen } from "../../../core/signing-pools/signing-agent.store.ts";
import type { Database } from "../../../db/open.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import type { AgentCaller } from "../requests/signing-request.ts";

export interface AgentAuthenticationDeps {
  readonly database: Database;
  /** The database's time: it decides whether an agent is online. */
  readonly clock: Clock;
  readonly rateLimits: RateLimits;
}

/** `last_seen_at` is written at most this often: an agent calls many times a second. */
const SEEN_INTERVAL_MS = 10_000;

const BEARER = /^Bearer (sgn_ak_[A-Za-z0-9_-]{1,100})$/i;

/** @throws CodedError 401 without the key of an active agent, 429 after too many failures from one network */
export async function authenticateAgent(
  deps: AgentAuthenticationDeps,
  { id: orgId }: Organisation,
  request: FastifyRequest,
): Promise<AgentCaller> {
  const presented = BEARER.exec(request.headers.authorization ?? "")?.[1];
  const { query } = deps.database;
  // Nothing was guessed.
  if (presented === undefined) throw invalidKey("no API key");
  const agent = await findAgentByApiKey(query, orgId, sha256Base64url(presented));
  if (!agent) {
    await countFailure(deps, orgId, request);
    throw invalidKey("unknown API key, or its agent is deactivated");
  }
  const now = deps.clock();
  const { id: agentId, poolId } = agent;
  if (agent.lastSeenAt === null || now - agent.lastSeenAt >= SEEN_INTERVAL_MS)
    await recordAgentSeen(query, { orgId, id: agentId, now, every: SEEN_INTERVAL_MS });
  return { orgId, poolId, agentId, address: addressOf(request) };
}

/** Only failures count: guesses from an agent's network don't lock the agent out. */
async function countFailure(
  deps: AgentAuthenticationDeps,
  orgId: string,
  request: FastifyRequest,
): Promise<void> {
  try {
    const limit = deps.rateLimits["agent-key-address"];
    await countAttempt(deps, orgId, [{ limit, subject: networkPrefix(addressOf(request)) }]);
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    const headers = { ...rateLimitHeaders(error), "retry-after": String(error.retryAfterSeconds) };
    throw new CodedError(429, "temporarily_unavailable", "too many wrong API keys from this address", {
      headers,
    });
  }
}

const invalidKey = (cause: string) =>
  new CodedError(401, "invalid_token", "the API key is not valid", {
    cause,
    // RFC 6750 §3.
    headers: { "www-authenticate": 'Bearer error="invalid_token"' },
  });
