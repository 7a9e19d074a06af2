/** `signet login` and `signet logout`: an administrator signs in by the device grant (RFC 8628), in whatever browser is at hand. */
import { setTimeout as pause } from "node:timers/promises";
import { commandLineClientId } from "../../core/applications/command-line-client.ts";
import { apiScopes, isApiScope, operatorScopes } from "../../core/scopes/api-scopes.ts";
import {
  type Command,
  type Io,
  optionalText,
  type RemoteCall,
  repeatedText,
  requiredText,
  UsageError,
} from "../command.ts";
import { escapeControls, fields, formatTime, printResult } from "../output.ts";
import { type Approved, oauthError, readTokens } from "./answered-tokens.ts";
import type { ApiAnswer } from "./api-types.ts";
import { getJson, postForm } from "./http-transport.ts";
import { readServerAddress } from "./server-address.ts";
import { readLogins, removeLogin, type StoredLogin, withLogins, writeLogin } from "./stored-logins.ts";

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

const whereOptions = {
  server: { value: "URL", help: "base URL of the server (or SIGNET_SERVER)" },
  org: { value: "ID", help: "organisation ID (default: the operators' organisation)" },
  json: { help: "print one JSON document only" },
} as const;

export const loginCommands: readonly Command[] = [
  {
    name: "login",
    summary:
      "sign in to a server as an administrator, in a browser; commands with --server then need no token",
    usage: "--server URL [--org ID] [--scope SCOPE]… [--json]",
    options: {
      ...whereOptions,
      scope: { value: "SCOPE", multiple: true, help: "such as signet:users:read; repeatable (default: all)" },
    },
    examples: ["signet login --server https://id.example.com --org 01998d6e-…"],
    runRemotely: login,
  },
  {
    name: "logout",
    summary: "sign out of a server: revokes the tokens of signet login and forgets them",
    usage: "--server URL [--org ID] [--json]",
    options: whereOptions,
    examples: ["signet logout --server https://id.example.com --org 01998d6e-…"],
    runRemotely: (call) => logout(call),
  },
];

interface Issuer {
  readonly issuer: string;
  readonly orgId: string;
  readonly isOfOperators: boolean;
  readonly deviceEndpoint: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint: string;
}

const serverOf = ({ values, client }: RemoteCall): string =>
  readServerAddress(optionalText(values, "server") ?? client.server ?? requiredText(values, "server"));

async function login(call: RemoteCall): Promise<number> {
  const { values, io, client } = call;
  const server = serverOf(call);
  const scopes = repeatedText(values, "scope");
  const unknown = scopes.find((scope) => !isApiScope(scope));
  if (unknown !== undefined)
    throw new UsageError(`--scope ${unknown}: is none of ${[...apiScopes, ...operatorScopes].join(", ")}`);
  const at = await findIssuer(server, optionalText(values, "org"));
  const clientId = commandLineClientId(at.orgId);
  const all = at.isOfOperators ? [...apiScopes, ...operatorScopes] : apiScopes;
  const asked = {
    client_id: clientId,
    scope: (scopes.length > 0 ? scopes : all).join(" "),
    resource: `${at.issuer.slice(0, at.issuer.lastIndexOf("/oauth/"))}/api/v1`,
  };
  const tokens = await approvedTokens(io, at, asked, await postForm(at.deviceEndpoint, asked));
  const stored = { server, orgId: at.orgId, isOfOperators: at.isOfOperators, clientId };
  const { tokenEndpoint, revocationEndpoint } = at;
  const signedIn: StoredLogin = { ...stored, tokenEndpoint, revocationEndpoint, ...tokens.kept };
  await withLogins(client.folder, () => writeLogin(client.folder, signedIn));
  const shown = {
    server,
    organisation: at.orgId,
    scopes: tokens.scopes,
    expiresAt: formatTime(signedIn.expiresAt),
  };
  return printResult(call, shown, () => [
    "Signed in.",
    ...fields({ server, organisation: at.orgId, scopes: tokens.scopes.join(" ") }),
  ]);
}

/** @throws Error when there is no such organisation, or the server goes by another name */
async function findIssuer(server: string, org: string | undefined): Promise<Issuer> {
  const root = await getJson(`${server}/api/v1`);
  const { operatorsIssuer } = (root.body ?? {}) as { operatorsIssuer?: string | null };
  if (root.status !== 200 || operatorsIssuer === undefined)
    throw new Error(`there is no Signet server at ${server}`);
  const operators = operatorsIssuer?.slice(operatorsIssuer.lastIndexOf("/") + 1);
  const orgId = org?.toLowerCase() ?? operators;
  if (orgId === undefined)
    throw new UsageError("the server has no operators yet: name an organisation with --org");
  const address = `${server}/oauth/${encodeURIComponent(orgId)}/.well-known/openid-configuration`;
  const { status, body } = await getJson(address);
  if (status !== 200) throw new Error(`there is no organisation "${orgId}" at ${server}`);
  const about = body as Record<string, string>;
  const { issuer = "" } = about;
  // Nothing is signed in to, and no token is sent, elsewhere than where the operator said.
  const endpoint = (name: string): string => {
    const url = about[name] ?? "";
    if (url.startsWith(`${server}/`)) return url;
    throw new Error(
      `the server calls itself ${URL.parse(issuer)?.origin ?? "nothing"}: name it so with --server`,
    );
  };
  return {
    ...{ issuer, orgId, isOfOperators: orgId === operators },
    deviceEndpoint: endpoint("device_authorization_endpoint"),
    tokenEndpoint: endpoint("token_endpoint"),
    revocationEndpoint: endpoint("revocation_endpoint"),
  };
}

const isRefusal = (body: unknown, code: string): boolean =>
  (body as { error?: unknown } | undefined)?.error === code;

/** The answer of the device authorization endpoint (RFC 8628 §3.2). */
interface Codes {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete?: string;
  readonly expires_in: number;
  readonly interval?: number;
}

const MIN_INTERVAL_SECONDS = 1;
const DEFAULT_INTERVAL_SECONDS = 5;
const MAX_LIFETIME_SECONDS = 3_600;

function readCodes(answer: ApiAnswer): Codes {
  if (answer.status !== 200) throw oauthError("the server does not start a sign-in", answer);
  const codes = (answer.body ?? {}) as Codes;
  const { device_code, user_code, verification_uri, expires_in, interval = DEFAULT_INTERVAL_SECONDS } = codes;
  const texts = [device_code, user_code, verification_uri];
  if (!texts.every((text) => typeof text === "string") || !(expires_in > 0) || typeof interval !== "number")
    throw new Error("the server does not start a sign-in: its answer has no codes");
  return codes;
}

/** Shows the address and the code, and polls until the administrator has decided or the code has expired (RFC 8628 §3.3 to §3.5). */
async function approvedTokens(
  io: Io,
  at: Issuer,
  { client_id, resource }: { readonly client_id: string; readonly resource: string },
  answer: ApiAnswer,
): Promise<Approved> {
  const codes = readCodes(answer);
  const expiresAt = Date.now() + Math.min(codes.expires_in, MAX_LIFETIME_SECONDS) * 1000;
  io.printError(escapeControls(`Open ${codes.verification_uri} and enter ${codes.user_code}`));
  const complete = codes.verification_uri_complete;
  if (complete !== undefined) io.printError(escapeControls(`or open ${complete}`));
  let seconds = Math.max(codes.interval ?? DEFAULT_INTERVAL_SECONDS, MIN_INTERVAL_SECONDS);
  for (;;) {
    // An answer that comes once the code has expired can only be a refusal.
    if (Date.now() + seconds * 1000 >= expiresAt) throw expired();
    await pause(seconds * 1000);
    const form = { grant_type: deviceGrant, device_code: codes.device_code, client_id, resource };
    const polled = await postForm(at.tokenEndpoint, form);
    if (polled.status === 200) return readTokens(polled.body);
    if (isRefusal(polled.body, "slow_down")) seconds += 5;
    else if (!isRefusal(polled.body, "authorization_pending")) throw notApproved(polled);
  }
}

const expired = (): Error => new Error("nobody entered the code in time: run signet login again");

function notApproved(answer: ApiAnswer): Error {
  if (isRefusal(answer.body, "access_denied")) return new Error("the sign-in was denied");
  if (isRefusal(answer.body, "expired_token")) return expired();
  if (isRefusal(answer.body, "invalid_grant"))
    return new Error("the account has no access to the API: an administrator has to sign in");
  return oauthError("the server refused the sign-in", answer);
}

const logout = (call: RemoteCall): Promise<number> =>
  withLogins(call.client.folder, async () => {
    const { values, client } = call;
    const server = serverOf(call);
    const org = optionalText(values, "org")?.toLowerCase();
    const login = (await readLogins(client.folder)).find(
      (one) => one.server === server && (org === undefined ? one.isOfOperators : one.orgId === org),
    );
    if (!login) throw new Error(`nobody is signed in to ${server}${org === undefined ? "" : ` in ${org}`}`);
    const { refreshToken, clientId, revocationEndpoint, orgId } = login;
    const answer = await postForm(revocationEndpoint, { token: refreshToken, client_id: clientId });
    // Forgotten only once they are revoked; those of an organisation that is gone have ended with it.
    if (answer.status !== 200 && answer.status !== 404)
      throw oauthError("the tokens could not be revoked", answer);
    await removeLogin(client.folder, login);
    return printResult(call, { server, organisation: orgId, signedOut: true }, () => ["Signed out."]);
  });
