/** The tokens of a claimed request, rendered again as its agent got them, and the key that must have signed them. */
import { agentAlgs } from "@signet/protocol/agent-signature";
import { findUsableKey } from "../../../core/signing-pools/usable-key.ts";
import { type Rendering, renderTokens } from "./signing-input.ts";
import { openColumn, type SigningRequestRow } from "./signing-request.store.ts";
import type { AgentCaller, SealedClaims, SigningDeps } from "./signing-request.ts";

export type FindKey = (kid: string) => ReturnType<typeof findUsableKey>;

/** Looks each of the agent's keys up once. */
export function keyFinder(deps: SigningDeps, agent: AgentCaller): FindKey {
  const found = new Map<string, ReturnType<FindKey>>();
  return (kid) => {
    const usable = found.get(kid) ?? findUsableKey(deps, agent, { kids: [kid], algs: agentAlgs });
    found.set(kid, usable);
    return usable;
  };
}

/**
 * The tokens as they were rendered at the claim.
 * @returns undefined when the key was retired since then: it signs nothing, and the next claim chooses another
 */
export async function claimedTokens(deps: SigningDeps, row: SigningRequestRow, findKey: FindKey) {
  if (row.rendering === null || row.kid === null) return undefined;
  const usable = await findKey(row.kid);
  if (!usable) return undefined;
  const { claims, context } = openColumn<SealedClaims>(deps, row, "claims");
  const rendered = renderTokens(claims, usable.key, JSON.parse(row.rendering) as Rendering);
  const { traceParent } = context;
  return { row, storedRendering: row.rendering, ...usable, claims, rendered, traceParent };
}

export type ClaimedTokens = NonNullable<Awaited<ReturnType<typeof claimedTokens>>>;
