/** What a text is that somebody pastes into the token inspector. It is not kept, not used, and written to no log. */
import { decodeJwsUnverified } from "@signet/protocol/jose/jws";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { inspectJwt, type JwtDeps } from "./inspect-jwt.ts";
import { inspectSecret } from "./inspect-secret.ts";
import { bad, type Inspection } from "./inspection.ts";

/** As many characters as a token may have. */
export const LONGEST_TOKEN = 16_384;

/** Terminals break lines, and headers are copied as a whole. */
export const tidied = (pasted: string): string =>
  pasted
    .trim()
    .replace(/^(?:authorization:\s*)?bearer\s+/i, "")
    .replaceAll(/\s+/g, "");

/** @param token at most LONGEST_TOKEN characters */
export async function inspectToken(
  deps: JwtDeps,
  organisation: Organisation,
  token: string,
): Promise<Inspection> {
  const secret = await inspectSecret(deps, organisation.id, token);
  if (secret) return secret;
  const decoded = decodeJwsUnverified(token);
  if (decoded) return inspectJwt(deps, organisation, token, decoded);
  const isUnsigned = token.split(".").length === 3 && token.endsWith(".");
  return { kind: "unknown", findings: [bad(isUnsigned ? "unsigned" : "noToken")] };
}
