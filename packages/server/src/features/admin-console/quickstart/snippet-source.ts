/** The values of one application that snippets are made from. */
import { matchReturnUrl } from "@signet/protocol/return-url";
import type { Application } from "../../../core/applications/application.ts";
import { type ApplicationKind, kindOf } from "../../../core/applications/kinds.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";

export interface SnippetSource {
  readonly kind: ApplicationKind | "public";
  readonly baseUrl: string;
  readonly issuer: string;
  readonly orgId: string;
  readonly clientId: string;
  /** Whether it authenticates with a client secret. */
  readonly hasSecret: boolean;
  /** Right after it was created. */
  readonly secret?: string | undefined;
  /** Where a new secret is created. */
  readonly secretUri: string;
  /** `address` is the application's origin. */
  readonly callback: Callback;
  readonly scopes: readonly string[];
  readonly idTokenAlg: string;
  readonly pool?: Pick<SigningPool, "id" | "issuerMode"> | undefined;
  /** Of the matching client SDK. */
  readonly version: string;
}

const DEFAULT_ADDRESS = "http://localhost:3000";

/** The default callback path of the client SDK. */
const BASE_PATH = "/signet";

export interface Callback {
  /** The origin of the application. */
  readonly address: string;
  readonly redirectUri: string;
  /** The callback path, where it is not the default. */
  readonly basePath?: string;
  /** The redirect URI of the SDK, when it is not registered yet. */
  readonly unregistered?: string;
}

/** The callback of the application, and whether the client SDK can serve it. */
export function findCallback(application: Pick<Application, "clientType" | "settings">): Callback {
  const kind = kindOf(application);
  const { redirectUris, returnUrls } = application.settings;
  const uris = [...redirectUris, ...returnUrls].filter((uri) => /^https?:/.test(uri));
  const bySdk = uris.find((uri) => sdkBasePath(uri) === BASE_PATH) ?? uris.find((uri) => sdkBasePath(uri));
  const redirectUri = bySdk ?? uris[0] ?? `${DEFAULT_ADDRESS}/`;
  const address = new URL(redirectUri).origin;
  const own = `${address}${BASE_PATH}/callback`;
  if (kind === "legacy")
    return { address, redirectUri, ...(matchReturnUrl(own, returnUrls) ? {} : { unregistered: own }) };
  if (kind === "native" || kind === "public")
    return { address, redirectUri: redirectUris.find(isLoopback) ?? redirectUris[0] ?? redirectUri };
  if (kind !== "web") return { address, redirectUri };
  const basePath = sdkBasePath(redirectUri);
  if (basePath === undefined) return { address, redirectUri, unregistered: own };
  return { address, redirectUri, ...(basePath === BASE_PATH ? {} : { basePath }) };
}

/** A loopback redirect URI (RFC 8252 §7.3). */
export const isLoopback = (uri: string): boolean =>
  /^http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)[:/]/.test(uri);

/** The SDK's callback is `callback` below its base path. */
const sdkBasePath = (uri: string): string | undefined =>
  /^\/(?:[\w.~-]+\/)*[\w.~-]+(?=\/callback$)/.exec(uri.slice(new URL(uri).origin.length))?.[0];

/** The scopes of a sign-in; all allowed ones for a service. */
export function requestedScopes(application: Pick<Application, "clientType" | "settings">): string[] {
  const { allowedScopes } = application.settings;
  // An apostrophe can't be quoted for a shell.
  if (kindOf(application) === "service") return allowedScopes.filter((scope) => !scope.includes("'"));
  return ["openid", "profile", "email", "offline_access"].filter((scope) => allowedScopes.includes(scope));
}

export const portNumber = (address: string): number => Number(new URL(address).port) || 3000;
