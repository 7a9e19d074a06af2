/** The tokens that the service rendered anew because the first ones had become old (sovereign-signing.md §3). */
import { Refusal } from "../refusal.ts";
import type { CheckedRequest, CheckedToken } from "./check-tokens.ts";
import { isSameJson } from "./decode-token.ts";

const renewed = ["iat", "exp", "jti"];

/**
 * Both are checked already; the user may have confirmed the first ones, so the others must not say anything else.
 * @throws Refusal when more than iat, exp and jti changed
 */
export function checkNothingElseChanged(before: CheckedRequest, after: CheckedRequest): void {
  if (before.tokens.length !== after.tokens.length) throw changed("number of tokens");
  before.tokens.forEach((token, index) => {
    const other = after.tokens[index];
    if (!other || other.use !== token.use || !isSameJson(token.header, other.header)) throw changed("header");
    if (!isSameJson(lasting(token), lasting(other))) throw changed("claims");
    if (lifetime(other) > lifetime(token)) throw changed("lifetime");
  });
}

const changed = (what: string) =>
  new Refusal("stale_payload", `the tokens were rendered anew with another ${what}`);

const lasting = ({ claims }: CheckedToken) =>
  Object.fromEntries(Object.entries(claims).filter(([name]) => !renewed.includes(name)));

const lifetime = ({ claims, exp }: CheckedToken): number => exp - Number(claims["iat"]);
