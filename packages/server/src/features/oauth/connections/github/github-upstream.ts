/**
 * Sends a browser to GitHub, and reads who comes back: OAuth 2.0 with PKCE (RFC 6749, RFC 7636), without an ID token. Who is there
 * is what GitHub's API says to the access token, which goes nowhere else and is forgotten.
 */
import { sha256Base64url } from "@signet/protocol/hash";
import { upstreamAcr } from "../../../../core/connections/sign-in/assurance.ts";
import { openSecret } from "../../../../core/connections/sign-in/client-secret.ts";
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";
import { claimedGroupIds } from "../../../../core/connections/sign-in/group-mapping.ts";
import { type Claims, mapClaims } from "../../../../core/connections/sign-in/mapping.ts";
import { effectiveMapping } from "../../../../core/connections/sign-in/presets.ts";
import type { SignInConnection } from "../../../../core/connections/sign-in/sign-in-connections.ts";
import { clientOf } from "../../../../core/connections/sign-in/sign-in-settings.ts";
import { upstreamAuthentication } from "../../../../core/connections/sign-in/upstream-sign-ins.ts";
import type { Encryption } from "../../../../core/encryption/encryption.ts";
import type { Outbound } from "../../../../core/outbound/outbound.ts";
import { callProvider, type JsonObject, jsonObject, jsonOf } from "../oidc/fetch-json.ts";
import type { Upstream, UpstreamBegin, UpstreamReturn, UpstreamReturned } from "../upstream.ts";
import { type GithubHost, githubHost } from "./github-host.ts";

export interface GithubDeps {
  readonly outbound: Outbound;
  readonly encryption: Encryption;
}

export const githubUpstream = (deps: GithubDeps): Upstream => ({
  begin: async (connection, asked) => authorizationAddress(connection, asked),
  receive: (connection, back) => receive(deps, connection, back),
});

const hostOf = ({ settings }: SignInConnection): GithubHost => githubHost(clientOf(settings).issuer);

/** @throws ConnectionSignInFailure */
function authorizationAddress(connection: SignInConnection, asked: UpstreamBegin): string {
  // GitHub never says when somebody signed in there.
  if (asked.maxAgeSeconds !== undefined)
    throw new ConnectionSignInFailure("stale-authentication", { detail: "GitHub knows no max_age" });
  const { clientId, scopes } = clientOf(connection.settings);
  const address = new URL(hostOf(connection).authorize);
  const parameters = {
    ...{ response_type: "code", client_id: clientId, redirect_uri: asked.redirectUri },
    ...{ scope: scopes.join(" "), state: asked.state },
    ...{ code_challenge: sha256Base64url(asked.verifier), code_challenge_method: "S256" },
    ...(asked.loginHint === undefined ? {} : { login: asked.loginHint }),
    ...(asked.mustReauthenticate ? { prompt: "select_account" } : {}),
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return address.href;
}

async function receive(
  deps: GithubDeps,
  connection: SignInConnection,
  back: UpstreamReturn,
): Promise<UpstreamReturned> {
  const { settings, orgId } = connection;
  const host = hostOf(connection);
  const code = codeOf(back.address.searchParams, host, back.state);
  const token = await fetchToken(deps, connection, code, back);
  const [user, emails] = await Promise.all([
    callApi(deps, orgId, host.user, token).then((answer) => jsonObject(host.user, answer)),
    fetchEmails(deps, orgId, host.emails, token),
  ]);
  const subject = subjectOf(user);
  const claims: Claims = { ...user, ...emailClaims(user, emails) };
  return {
    identity: {
      ...{ subject, user: mapClaims(effectiveMapping(settings), claims) },
      // GitHub says nothing of how somebody signed in: what an account's owner can write there raises no level.
      acr: upstreamAcr(settings.assurance, {}),
      groupIds: claimedGroupIds(settings.groups, claims),
      upstream: upstreamAuthentication({}, clientOf(settings).issuer),
    },
    claims,
  };
}

/** RFC 6749 §4.1.2, RFC 9207 §2.4. @throws ConnectionSignInFailure */
function codeOf(sent: URLSearchParams, { names }: GithubHost, state: string): string {
  const one = (name: string): string | undefined => {
    const all = sent.getAll(name);
    if (all.length > 1) throw new ConnectionSignInFailure("upstream-garbage", { detail: `${name} twice` });
    return all[0];
  };
  const issuer = one("iss");
  if (issuer !== undefined && !names.includes(issuer))
    throw new ConnectionSignInFailure("issuer-mismatch", { detail: "iss of the authorization response" });
  if (one("state") !== state) throw new ConnectionSignInFailure("state-unknown");
  const error = one("error");
  if (error !== undefined)
    throw new ConnectionSignInFailure(error === "access_denied" ? "upstream-denied" : "upstream-error", {
      detail: error,
    });
  const code = one("code");
  if (code === undefined || code === "")
    throw new ConnectionSignInFailure("upstream-garbage", { detail: "no code" });
  return code;
}

/** RFC 6749 §4.1.3. GitHub answers with status 200 for an error too. @throws ConnectionSignInFailure */
async function fetchToken(
  { outbound, encryption }: GithubDeps,
  connection: SignInConnection,
  code: string,
  { address, verifier }: UpstreamReturn,
): Promise<string> {
  const { clientId, tokenEndpointAuthMethod } = clientOf(connection.settings);
  const secret = openSecret(encryption, connection) ?? "";
  const isBasic = tokenEndpointAuthMethod === "client_secret_basic";
  const form = new URLSearchParams({
    ...{ grant_type: "authorization_code", code, code_verifier: verifier },
    ...{ redirect_uri: address.origin + address.pathname, client_id: clientId },
    ...(isBasic ? {} : { client_secret: secret }),
  });
  const { token: endpoint } = hostOf(connection);
  const answer = await callProvider(outbound, connection.orgId, endpoint, {
    method: "POST",
    headers: {
      ...headers,
      accept: "application/json",
      "content-type": "application/x-www-form-urlencoded",
      ...(isBasic ? { authorization: basic(clientId, secret) } : {}),
    },
    body: form.toString(),
  });
  const { error, access_token: token, token_type: type } = jsonObject(endpoint, answer);
  if (typeof error === "string")
    throw new ConnectionSignInFailure("upstream-error", { detail: `token: ${error}` });
  const isBearer = typeof type === "string" && type.toLowerCase() === "bearer";
  // RFC 6750 §2.1: anything else could not stand in a header.
  if (typeof token !== "string" || !isBearer || !/^[\w.~+/-]{1,4096}=*$/.test(token))
    throw new ConnectionSignInFailure("upstream-garbage", { detail: "no access token" });
  return token;
}

/** RFC 6749 §2.3.1. */
const basic = (id: string, secret: string): string =>
  `Basic ${Buffer.from([id, secret].map((part) => encodeURIComponent(part)).join(":")).toString("base64")}`;

/** GitHub answers nobody who says no name. */
const headers = { "user-agent": "Signet" };

const callApi = ({ outbound }: GithubDeps, orgId: string, address: string, token: string) =>
  callProvider(outbound, orgId, address, {
    headers: { ...headers, accept: "application/vnd.github+json", authorization: `Bearer ${token}` },
  });

/** @returns undefined when the token is not good for it: an application may be registered without the scope */
async function fetchEmails(
  deps: GithubDeps,
  orgId: string,
  address: string,
  token: string,
): Promise<unknown> {
  const answer = await callApi(deps, orgId, address, token);
  return answer.status === 403 || answer.status === 404 ? undefined : jsonOf(address, answer);
}

/** The number of the account: its login and its address go to somebody else one day. @throws ConnectionSignInFailure */
function subjectOf({ id }: JsonObject): string {
  if (!Number.isSafeInteger(id) || Number(id) <= 0) throw new ConnectionSignInFailure("subject-missing");
  return String(id);
}

/** The primary address, and whether GitHub has verified it. The one in the profile is what its owner shows, and proves nothing. */
function emailClaims({ email }: JsonObject, emails: unknown): Claims {
  const all: readonly unknown[] = Array.isArray(emails) ? emails : [];
  const primary = all.find((one) => isObject(one) && one["primary"] === true) as JsonObject | undefined;
  if (!primary) return { email: email ?? null, email_verified: false };
  return { email: primary["email"], email_verified: primary["verified"] === true };
}

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null;
