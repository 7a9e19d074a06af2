/** Tokens that the service rendered again because the first ones became stale (sovereign-signing.md §3). */
import { Refusal } from "../agent/refusal.ts";
import type { CheckedRequest, CheckedToken } from "./check-tokens.ts";
import { isSameJson } from "./decode-token.ts";

const renewedClaims = ["iat", "exp", "jti"];

/**
 * Both have passed the policy; but the user may have confirmed the first ones, so the others must state the same.
 * @throws Refusal when more than iat, exp and jti changed
 */
export function requireOnlyRenewed(before: CheckedRequest, after: CheckedRequest): void {
  if (before.tokens.length !== after.tokens.length) throw changed("numbers of tokens");
  before.tokens.forEach((token, index) => {
    const other = after.tokens[index];
    if (!other || other.use !== token.use || !isSameJson(token.header, other.header)) throw changed("header");
    if (!isSameJson(stableClaims(token), stableClaims(other))) throw changed("claims");
    if (lifetime(other) > lifetime(token)) throw changed("lifetime");
  });
}

const changed = (what: string) =>
  new Refusal("stale_payload", `the tokens were rendered again with different ${what}`);

const stableClaims = ({ claims }: CheckedToken) =>
  Object.fromEntries(Object.entries(claims).filter(([name]) => !renewedClaims.includes(name)));

const lifetime = ({ claims, exp }: CheckedToken): number => exp - Number(claims["iat"]);
