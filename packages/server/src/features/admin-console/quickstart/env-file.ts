/** The file `.env` of an application, read by the client SDK and the curl lines. */
import { randomSecret } from "@signet/protocol/hash";
import type { SnippetSource } from "./snippet-source.ts";

/** @returns lines for `node --env-file`, and for a shell that reads the file */
export function envFile(source: SnippetSource): string {
  const { kind } = source;
  const { address, basePath } = source.callback;
  const isSignIn = kind === "web" || kind === "legacy";
  const lines = [
    ...(isSignIn ? [line("SIGNET_FILTER_TYPE", kind === "legacy" ? "UserFederated" : "OAuthFederated")] : []),
    line("SIGNET_FEDERATION_SERVER", source.baseUrl),
    ...(kind === "legacy" ? [] : [line("SIGNET_OAUTH_ORGANISATION_ID", source.orgId)]),
    line("SIGNET_APPLICATION_ID", source.clientId),
    ...secretLines(source),
    ...(kind === "legacy" || source.scopes.length === 0
      ? []
      : [line("SIGNET_OAUTH_SCOPES", source.scopes.join(" "))]),
    ...(kind === "web" ? idTokenAlgLines(source) : []),
    ...(isSignIn ? [line("SIGNET_BASE_URL", address), line("SIGNET_COOKIE_SECRETS", randomSecret(""))] : []),
    ...(isSignIn && basePath !== undefined ? [line("SIGNET_BASE_PATH", basePath)] : []),
    ...poolLines(source),
    ...environmentLines(source),
  ];
  return lines.join("\n");
}

function secretLines({ kind, hasSecret, secret, secretUri }: SnippetSource): string[] {
  if (!hasSecret || kind === "legacy") return [];
  if (secret !== undefined) return [line("SIGNET_OAUTH_CLIENT_SECRET", secret)];
  return [`# Shown only once. Create another secret: ${secretUri}`, "SIGNET_OAUTH_CLIENT_SECRET="];
}

/** The SDK takes ID tokens of the registered algorithm only. With a pool, the agents' keys decide. */
const idTokenAlgLines = ({ idTokenAlg, pool }: SnippetSource): string[] =>
  idTokenAlg === "ES256" || pool !== undefined ? [] : [line("SIGNET_OAUTH_ID_TOKEN_ALG", idTokenAlg)];

/** To begin with: in production the application pins the keys of the pool's agents (docs/sdk/sovereign.md). */
function poolLines({ pool }: SnippetSource): string[] {
  if (pool === undefined) return [];
  return [
    line("SIGNET_SOVEREIGN_SIGNING_POOL_ID", pool.id),
    line("SIGNET_SOVEREIGN_ISSUER_MODE", pool.issuerMode),
    "# For a start. In production pin the keys of the agents instead: docs/sdk/sovereign.md",
    line("SIGNET_SOVEREIGN_ALLOW_UNPINNED", "true"),
  ];
}

/** The SDK accepts plain http to another machine only when told to. */
function environmentLines({ baseUrl, callback, kind }: SnippetSource): string[] {
  const origins = kind === "web" || kind === "legacy" ? [baseUrl, callback.address] : [baseUrl];
  return origins.some(isPlainElsewhere) ? [line("SIGNET_ENVIRONMENT", "development")] : [];
}

function isPlainElsewhere(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === "http:" && !["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}

/** Quoted for Node and for shells; a scope may hold nearly every character. */
const line = (name: string, value: string): string =>
  /^[\w.:/,@+=-]+$/.test(value) ? `${name}=${value}` : `${name}='${value}'`;
