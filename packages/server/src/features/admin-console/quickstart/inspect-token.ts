/** Finds out what a pasted text is. It is not stored, not used, and not logged. */
import { decodeJwsUnverified } from "@signet/protocol/jose/jws";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { inspectJwt, type JwtDeps } from "./inspect-jwt.ts";
import { inspectSecret } from "./inspect-secret.ts";
import { bad, type Inspection } from "./inspection.ts";

export const MAX_TOKEN_LENGTH = 16_384;

/** Removes line breaks and the name of the header. */
export const normalizeToken = (pasted: string): string =>
  pasted
    .trim()
    .replace(/^(?:authorization:\s*)?bearer\s+/i, "")
    .replaceAll(/\s+/g, "");

/** @param token at most MAX_TOKEN_LENGTH characters */
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
