/** What the lines of a quickstart are made of: real values of one application. */
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
  /** Whether it proves itself with a secret. */
  readonly hasSecret: boolean;
  /** This once. */
  readonly secret?: string | undefined;
  /** Where another one is made. */
  readonly secretUri: string;
  /** Its `address` is the origin that people open. */
  readonly callback: Callback;
  readonly scopes: readonly string[];
  readonly pool?: Pick<SigningPool, "id" | "issuerMode"> | undefined;
  readonly sdkVersion: string;
}

const DEFAULT_ADDRESS = "http://localhost:3000";

/** Where the client SDK answers by custom. */
const BASE_PATH = "/signet";

export interface Callback {
  /** The origin of the application. */
  readonly address: string;
  readonly redirectUri: string;
  /** Where the client SDK is to answer, when not by custom. */
  readonly basePath?: string;
  /** The address that the SDK comes back to, when it has to be registered first. */
  readonly unregistered?: string;
}

/** Where sign-ins come back to, and whether the client SDK can be there. */
export function callbackOf(application: Pick<Application, "clientType" | "settings">): Callback {
  const kind = kindOf(application);
  const { redirectUris, returnUrls } = application.settings;
  const uris = [...redirectUris, ...returnUrls].filter((uri) => /^https?:/.test(uri));
  const bySdk = uris.find((uri) => basePathOf(uri) === BASE_PATH) ?? uris.find((uri) => basePathOf(uri));
  const redirectUri = bySdk ?? uris[0] ?? `${DEFAULT_ADDRESS}/`;
  const address = new URL(redirectUri).origin;
  const own = `${address}${BASE_PATH}/callback`;
  if (kind === "legacy")
    return { address, redirectUri, ...(matchReturnUrl(own, returnUrls) ? {} : { unregistered: own }) };
  if (kind === "native" || kind === "public")
    return { address, redirectUri: redirectUris.find(isLoopback) ?? redirectUris[0] ?? redirectUri };
  if (kind !== "web") return { address, redirectUri };
  const basePath = basePathOf(redirectUri);
  if (basePath === undefined) return { address, redirectUri, unregistered: own };
  return { address, redirectUri, ...(basePath === BASE_PATH ? {} : { basePath }) };
}

/** An address of the person's own computer (RFC 8252 §7.3), where a program can listen. */
export const isLoopback = (uri: string): boolean =>
  /^http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)[:/]/.test(uri);

/** The SDK answers at `callback` below its base path. */
const basePathOf = (uri: string): string | undefined =>
  /^\/(?:[\w.~-]+\/)*[\w.~-]+(?=\/callback$)/.exec(uri.slice(new URL(uri).origin.length))?.[0];

/** What a person's sign-in asks for; of a service, all that it may have. */
export function scopesOf(application: Pick<Application, "clientType" | "settings">): string[] {
  const { allowedScopes } = application.settings;
  // One with an apostrophe could not be quoted for a shell.
  if (kindOf(application) === "service") return allowedScopes.filter((scope) => !scope.includes("'"));
  return ["openid", "profile", "email", "offline_access"].filter((scope) => allowedScopes.includes(scope));
}

export const portOf = (address: string): number => Number(new URL(address).port) || 3000;
