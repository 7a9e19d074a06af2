/** What the token endpoint answers: tokens, or an OAuth error in words (RFC 6749 §5). */
import { escapeControls } from "../output.ts";
import type { ApiAnswer } from "./api-types.ts";
import type { StoredLogin } from "./stored-logins.ts";

type Tokens = Pick<StoredLogin, "accessToken" | "expiresAt" | "refreshToken">;

export interface Approved {
  readonly kept: Tokens;
  readonly scopes: readonly string[];
}

export function readTokens(body: unknown): Approved {
  const { access_token, expires_in, refresh_token, scope } = body as {
    access_token: string;
    expires_in: number;
    refresh_token: string;
    scope?: string;
  };
  const scopes = scope?.split(" ") ?? [];
  const expiresAt = Date.now() + expires_in * 1000;
  return { kept: { accessToken: access_token, expiresAt, refreshToken: refresh_token }, scopes };
}

export function oauthError(what: string, { status, body }: ApiAnswer): Error {
  const { error, error_description: description } = (body ?? {}) as Record<string, unknown>;
  const reason = [error, description].filter((one) => typeof one === "string").join(": ");
  return new Error(escapeControls(`${what}: ${reason === "" ? `status ${status}` : reason}`));
}
