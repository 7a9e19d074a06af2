/** What the token endpoint answers: tokens, or an OAuth error in words (RFC 6749 §5). */
import { escapeControls } from "../output.ts";
import type { ApiAnswer } from "./api-types.ts";
import type { StoredLogin } from "./stored-logins.ts";

type Tokens = Pick<StoredLogin, "accessToken" | "expiresAt" | "refreshToken">;

export interface Approved {
  readonly kept: Tokens;
  readonly scopes: readonly string[];
}

/** @param before the refresh token that was used: it stays where the answer has no other (RFC 6749 §6) */
export function readTokens(body: unknown, before?: string): Approved {
  const answer = (typeof body === "object" && body !== null ? body : {}) as Readonly<Record<string, unknown>>;
  const { access_token: accessToken, expires_in: lifetime, refresh_token = before, scope } = answer;
  if (typeof accessToken !== "string" || typeof lifetime !== "number" || typeof refresh_token !== "string")
    throw new Error("the server answers without tokens");
  const scopes = typeof scope === "string" ? scope.split(" ") : [];
  const expiresAt = Date.now() + lifetime * 1000;
  return { kept: { accessToken, expiresAt, refreshToken: refresh_token }, scopes };
}

export function oauthError(what: string, { status, body }: ApiAnswer): Error {
  const { error, error_description: description } = (body ?? {}) as Record<string, unknown>;
  const reason = [error, description].filter((one) => typeof one === "string").join(": ");
  return new Error(escapeControls(`${what}: ${reason === "" ? `status ${status}` : reason}`));
}
