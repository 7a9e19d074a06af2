/** What has to hold before this machine signs: enough other agents have approved these very bytes, for this very request. */
import {
  approvalHash,
  approvesInputs,
  isApprovalBy,
  parseApproval,
} from "@signet/protocol/approvals/approval";
import { sha256Base64url } from "@signet/protocol/hash";
import { quoted, unable } from "../agent/refusal.ts";
import type { CheckedToken } from "../policy/check-tokens.ts";
import type { Peers } from "./peers.ts";

/** Between an approval and the signature: bytes are older than that no longer signed (sovereign-signing.md §3). */
const MAX_AGE_SECONDS = 300;

export const inputsOf = (tokens: readonly CheckedToken[]): Record<string, string> =>
  Object.fromEntries(tokens.map(({ use, signingInput }) => [use, sha256Base64url(signingInput)]));

interface Approved {
  readonly given: readonly string[];
  readonly requestId: string;
  readonly issuer: string;
  readonly tokens: readonly CheckedToken[];
  /** Milliseconds. */
  readonly now: number;
}

/**
 * @returns the hash of each approval
 * @throws Refusal `approval_malformed`, `approval_key`, `approval_signature`, `approval_request`, `approval_bytes`, `approval_age`,
 * `approval_twice`, `approvals_missing`
 */
export function checkApprovals(
  { required, byKid }: Peers,
  { given, requestId, issuer, tokens, now }: Approved,
): string[] {
  const inputs = inputsOf(tokens);
  const agents = new Set<string>();
  for (const jws of given) {
    const approval = parseApproval(jws);
    if (!approval) throw unable("approval_malformed", "an approval is not well-formed");
    const peer = byKid.get(approval.kid);
    if (!peer)
      throw unable("approval_key", `the configuration has no agent with the key ${quoted(approval.kid)}`);
    if (!isApprovalBy(approval, peer))
      throw unable("approval_signature", `the approval of ${peer.agent} is not signed with its key`);
    const { claims } = approval;
    if (claims.request !== requestId || claims.iss !== issuer)
      throw unable("approval_request", `the approval of ${peer.agent} is for another request`);
    if (!approvesInputs(approval, inputs))
      throw unable("approval_bytes", `the approval of ${peer.agent} is for other bytes`);
    if (Math.abs(claims.iat - now / 1000) > MAX_AGE_SECONDS)
      throw unable("approval_age", `the approval of ${peer.agent} is too old, or of the future`);
    if (agents.has(peer.agent)) throw unable("approval_twice", `${peer.agent} has approved twice`);
    agents.add(peer.agent);
  }
  if (agents.size < required - 1)
    throw unable("approvals_missing", `${agents.size} of ${required - 1} other agents have approved`);
  return given.map(approvalHash);
}
