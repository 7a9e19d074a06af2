/** Calls to the issuer: its metadata, and its endpoints with a proof of possession where it takes them. */

import { type DpopKey, dpopProof } from "./dpop.ts";
import { SignetClientError } from "./errors.ts";

/** RFC 8414, as far as it is used. */
export interface Metadata {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly userinfo_endpoint: string;
  readonly end_session_endpoint?: string;
  readonly revocation_endpoint?: string;
  readonly dpop_signing_alg_values_supported?: readonly string[];
  readonly authorization_response_iss_parameter_supported?: boolean;
}

/** The last nonce of each server (RFC 9449 §8.2). */
const nonces = new Map<string, string>();

export interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: URLSearchParams;
}

/** @throws SignetClientError `unreachable`, naming the URL and what to check */
export async function ask(url: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch {
    throw new SignetClientError(
      "unreachable",
      `${url} can't be reached. Check the property issuer, and that the application has a redirect URI of this origin: only then may it ask.`,
    );
  }
}

export async function loadMetadata(issuer: string): Promise<Metadata> {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const response = await ask(url);
  const found = response.ok ? ((await response.json()) as Metadata) : undefined;
  // Discovery §4.3: otherwise an issuer could speak for another one.
  if (found?.issuer !== issuer) {
    const what = found === undefined ? `answers with ${response.status}` : `names the issuer ${found.issuer}`;
    throw new SignetClientError("configuration", `${url} ${what}. Check the property issuer: ${issuer}`);
  }
  return found;
}

export const acceptsDpop = ({ dpop_signing_alg_values_supported: algs }: Metadata): boolean =>
  algs?.includes("ES256") === true;

export interface Possession {
  readonly key: DpopKey | undefined;
  /** For a resource; undefined at the token endpoint. */
  readonly accessToken?: string;
}

/** Sends a request with a proof, and again with the server's nonce if it asks for one. */
export async function fetchWithProof(
  url: string,
  init: RequestInit,
  { key, accessToken }: Possession,
): Promise<Response> {
  const { origin } = new URL(url);
  const method = init.method ?? "GET";
  const send = async (): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (accessToken !== undefined) headers.set("authorization", `${key ? "DPoP" : "Bearer"} ${accessToken}`);
    if (key)
      headers.set("dpop", await dpopProof(key, { method, url, nonce: nonces.get(origin), accessToken }));
    const response = await ask(url, { ...init, headers });
    const nonce = response.headers.get("dpop-nonce");
    if (nonce !== null) nonces.set(origin, nonce);
    return response;
  };
  const response = await send();
  return key && (await wantsNonce(response)) ? send() : response;
}

/** RFC 9449 §8, §9. */
async function wantsNonce(response: Response): Promise<boolean> {
  if (response.status !== 400 && response.status !== 401) return false;
  if (!response.headers.has("dpop-nonce")) return false;
  if (response.headers.get("www-authenticate")?.includes("use_dpop_nonce")) return true;
  return (await response.clone().text()).includes("use_dpop_nonce");
}

/** RFC 6749 §5.1. */
export interface TokenAnswer {
  readonly access_token: string;
  readonly token_type: string;
  readonly expires_in?: number;
  readonly refresh_token?: string;
  readonly id_token?: string;
  readonly scope?: string;
}

/** @throws SignetClientError `refused` with the OAuth error, `unreachable`, `answer` */
export async function requestTokens(
  metadata: Metadata,
  form: Readonly<Record<string, string>>,
  key: DpopKey | undefined,
): Promise<TokenAnswer> {
  const url = metadata.token_endpoint;
  const response = await fetchWithProof(url, { method: "POST", body: new URLSearchParams(form) }, { key });
  const body = (await response.json().catch(() => ({}))) as Partial<TokenAnswer> & {
    readonly error?: string;
  };
  if (response.status >= 500 || response.status === 429)
    throw new SignetClientError("unreachable", `${url} answers with ${response.status}.`);
  if (body.error !== undefined)
    throw new SignetClientError(
      "refused",
      `${url} refused: ${body.error.slice(0, 100)}. Check the property clientId.`,
      body.error,
    );
  if (typeof body.access_token !== "string" || typeof body.token_type !== "string")
    throw new SignetClientError("answer", `${url} gave no token.`);
  return body as TokenAnswer;
}
