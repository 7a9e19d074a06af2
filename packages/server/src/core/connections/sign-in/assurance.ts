/** The acr of a session that an identity provider vouches for (connections.md §4, "Tokens"). */
import { acrValues, toAssurance } from "../../sessions/session.ts";
import type { Claims } from "./mapping.ts";
import type { AssuranceRule } from "./sign-in-settings.ts";

/** The highest that a rule gives; a password's without one. */
export function upstreamAcr(rules: readonly AssuranceRule[], claims: Claims): string {
  const reached = rules.filter(({ claim, value }) => claimed(claims[claim]).includes(value));
  return reached.reduce<string>(
    (acr, rule) => (toAssurance(rule.acr) > toAssurance(acr) ? rule.acr : acr),
    acrValues.password,
  );
}

const claimed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
