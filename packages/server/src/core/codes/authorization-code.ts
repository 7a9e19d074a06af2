/** The authorization code: ten minutes, one use (specification, "Limits"; RFC 6749 §4.1.2). */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import type { RecordOf } from "../../db/records.ts";
import type { AuthorizationCodeTable } from "../../db/tables/tokens.ts";
import type { ApplicationSettings } from "../applications/application.ts";
import { isFapi } from "../applications/security-profile.ts";
import type { SigningRequestRef } from "../tokens/signer.ts";
import type { Grant, GrantColumn } from "../tokens/token-family.ts";

export const CODE_LIFETIME_MS = 10 * 60 * 1000;
const FAPI_CODE_LIFETIME_MS = 60_000;

/** FAPI 2.0 Security Profile §5.3.2.1: at most a minute. */
export const codeLifetimeMs = (settings: Pick<ApplicationSettings, "securityProfile">): number =>
  isFapi(settings) ? FAPI_CODE_LIFETIME_MS : CODE_LIFETIME_MS;

type StoredCode = RecordOf<Omit<AuthorizationCodeTable, GrantColumn | "signing">>;

export interface AuthorizationCode extends Grant, StoredCode {
  /** The signing request for its tokens; null where they are signed at redemption. */
  readonly signing: SigningRequestRef | null;
}

export function newCode(): { plaintext: string; hash: string } {
  const plaintext = randomSecret("sgn_ac_");
  return { plaintext, hash: sha256Base64url(plaintext) };
}
