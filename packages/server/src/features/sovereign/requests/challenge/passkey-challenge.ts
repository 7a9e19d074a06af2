/**
 * What a passkey is asked to sign for an agent (sovereign-signing.md §5): SHA-256 over the signing inputs, one below the
 * other, and nothing else. The page asks at this service's own address, where the user's passkey signs in, too: an agent
 * that may name any challenge would get a sign-in to all of the organisation's applications out of it.
 */
import { agentAlgs } from "@signet/protocol/agent-signature";
import { sha256Base64url } from "@signet/protocol/hash";
import type { AgentCaller } from "../../agent-api/request-messages.ts";
import type { SealedClaims } from "../create-request.ts";
import type { RequestDeps } from "../request-deps.ts";
import { openJson } from "../sealed-json.ts";
import { type Rendering, renderTokens } from "../signing/render-tokens.ts";
import { usableKey } from "../signing/usable-keys.ts";
import type { SigningRequestRow } from "../signing-request.store.ts";
import type { Challenge, RenderedToken } from "../signing-request.ts";

export const passkeyChallenge = (tokens: readonly Pick<RenderedToken, "protected" | "payload">[]): string =>
  sha256Base64url(tokens.map((token) => `${token.protected}.${token.payload}`).join("\n"));

/** @returns undefined when it may be asked, as far as passkeys go */
export async function passkeyFault(
  deps: RequestDeps,
  agent: AgentCaller,
  row: SigningRequestRow,
  { type, publicKey }: Challenge,
): Promise<"lease_lost" | "foreign_challenge" | undefined> {
  if (type !== "webauthn") return undefined;
  if (row.rendering === null || row.kid === null) return "lease_lost";
  const found = await usableKey(deps, agent, { kids: [row.kid], algs: agentAlgs });
  if (!found) return "lease_lost";
  const place = { orgId: row.org_id, requestId: row.id };
  const { claims } = openJson<SealedClaims>(deps.encryption, place, "claims", row.claims);
  const { tokens } = renderTokens(claims, found.key, JSON.parse(row.rendering) as Rendering);
  return publicKey?.["challenge"] === passkeyChallenge(tokens) ? undefined : "foreign_challenge";
}
