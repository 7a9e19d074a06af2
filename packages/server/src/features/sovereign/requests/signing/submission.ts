/**
 * What the service checks of signed JWTs before it lets them out (sovereign-signing.md §6). Nothing that is submitted is
 * parsed: two segments must be the very bytes that were rendered, and the third a signature of them, spelled in the one
 * way there is.
 */
import { type AgentVerificationKey, verifyAgentSignature } from "@signet/protocol/agent-signature";
import { sha256Base64url } from "@signet/protocol/hash";
import type { InvalidJwtReason, Submission } from "../../agent-api/request-messages.ts";
import type { RenderedToken } from "../signing-request.ts";

type Jwts = Submission["jwts"];

/** JWTs that are as they should be, by use. */
export interface CheckedJwts {
  readonly access_token: string;
  readonly id_token?: string;
}

const uses = ["access_token", "id_token"] as const;

/** @param key the one that was registered, with the one algorithm that it was registered for */
export async function checkSubmission(
  rendered: readonly RenderedToken[],
  jwts: Jwts,
  key: AgentVerificationKey,
): Promise<{ readonly jwts: CheckedJwts } | { readonly reason: InvalidJwtReason }> {
  const wanted = new Map(rendered.map((token) => [token.use, `${token.protected}.${token.payload}`]));
  const reason = await faultOf(jwts, key, wanted, (input, expected) => input === expected);
  if (reason) return { reason };
  // These alone: whatever else was submitted is not kept with them.
  const { access_token, id_token } = jwts as CheckedJwts;
  return { jwts: { access_token, ...(id_token === undefined ? {} : { id_token }) } };
}

/** Whether it is the same lease's submission once more: what was rendered is forgotten, but not its hashes. */
export async function isRepeat(
  inputHashes: Readonly<Partial<Record<RenderedToken["use"], string>>>,
  jwts: Jwts,
  key: AgentVerificationKey,
): Promise<boolean> {
  const wanted = new Map(
    uses.flatMap((use) => (inputHashes[use] === undefined ? [] : [[use, inputHashes[use]] as const])),
  );
  const isSame = (input: string, hash: string) => sha256Base64url(input) === hash;
  return (await faultOf(jwts, key, wanted, isSame)) === undefined;
}

/** SHA-256 of what was signed, by use: it outlives the tokens. */
export function inputHashesOf(rendered: readonly RenderedToken[]): Record<string, string> {
  return Object.fromEntries(
    rendered.map((token) => [token.use, sha256Base64url(`${token.protected}.${token.payload}`)]),
  );
}

/** The first fault, looked for in the order of §6: what is there, what it is made of, what was signed, by whom. */
async function faultOf(
  jwts: Jwts,
  key: AgentVerificationKey,
  wanted: ReadonlyMap<string, string>,
  isSame: (signingInput: string, wanted: string) => boolean,
): Promise<InvalidJwtReason | undefined> {
  for (const use of uses) {
    const expected = wanted.get(use);
    const jwt = jwts[use];
    // Nobody asked for this one.
    if (expected === undefined && jwt !== undefined) return "bytes_mismatch";
    if (expected === undefined) continue;
    if (typeof jwt !== "string") return "missing_token";
    const parts = jwt.split(".", 4);
    const [header, payload, signature] = parts;
    if (parts.length !== 3 || header === undefined || payload === undefined || !signature)
      return "bad_encoding";
    const signingInput = `${header}.${payload}`;
    if (!isSame(signingInput, expected)) return "bytes_mismatch";
    const verdict = await verifyAgentSignature(key, signingInput, signature);
    if (verdict !== "good") return verdict;
  }
  return undefined;
}
