/** What a library or product needs of its application (docs/stacks.md), and the application's settings that follow from it. */
import type { ClientType } from "@signet/protocol/oauth/redirect-uri";
import {
  type Application,
  type ApplicationSettings,
  defaultSettings,
  type TokenEndpointAuthMethod,
} from "../applications/application.ts";
import { issuerOf } from "../organisations/organisation.ts";

export interface Stack {
  /** Its own name, which needs no translation. */
  readonly title: string;
  readonly clientType: ClientType;
  /** The origin that it listens on by its own defaults. */
  readonly address: string;
  /** Paths below the address, or whole URIs. The first one stands in the printed settings. */
  readonly redirects: readonly string[];
  readonly postLogoutRedirects?: readonly string[];
  /** Requested by the printed settings. */
  readonly scopes: ReadonlyArray<"openid" | "profile" | "email" | "offline_access" | "groups">;
  /** How it authenticates at the token endpoint without further settings. */
  readonly auth?: Extract<TokenEndpointAuthMethod, "client_secret_basic" | "client_secret_post">;
  /** Overrides of the client type's defaults. */
  readonly settings?: Partial<ApplicationSettings>;
  /** The path of the API below the address: tokens are for it. */
  readonly resourcePath?: string;
  /** Its own settings, filled in. */
  setup(values: StackValues): readonly SetupFile[];
}

export interface SetupFile {
  /** A file name, or where the lines belong. */
  readonly file: string;
  readonly lines: string;
}

/** What `setup` fills in. Every value is safe between single quotes. */
export interface StackValues {
  readonly issuer: string;
  readonly clientId: string;
  /** Known right after its creation only; otherwise a placeholder. */
  readonly clientSecret: string;
  /** The application's origin. */
  readonly address: string;
  readonly redirectUri: string;
  readonly postLogoutRedirectUri: string;
  /** Separated by spaces. */
  readonly scope: string;
  /** The first allowed resource, else the issuer. */
  readonly resource: string;
}

/** Neither claims in the ID token nor groups are told by default: most libraries look nowhere else. */
export const claimsInIdToken = { idTokenIncludesScopeClaims: true } as const;

/** For libraries that verify RS256 only, unless they are told otherwise. */
export const rs256 = { idTokenSignedResponseAlg: "RS256" } as const;

/** For libraries that can't do PKCE, or not by settings alone: their nonce takes its place (RFC 9700 §2.1.1). */
export const nonceInPlaceOfPkce = { requirePkce: false, requireNonceWithoutPkce: true } as const;

const standard = ["openid", "profile", "email", "offline_access"] as const;

/** @param address an origin, see `addressOf` in kinds.ts */
export function settingsOfStack(stack: Stack, address: string = stack.address): Partial<ApplicationSettings> {
  const at = (path: string) => (/^(?:\/|$)/.test(path) ? `${address}${path}` : path);
  const resource = stack.resourcePath === undefined ? undefined : `${address}${stack.resourcePath}`;
  const further = stack.scopes.filter((scope) => !(standard as readonly string[]).includes(scope));
  return {
    redirectUris: stack.redirects.map(at),
    postLogoutRedirectUris: (stack.postLogoutRedirects ?? []).map(at),
    ...(stack.redirects.some((path) => path.startsWith("/")) ? { homepageUri: `${address}/` } : {}),
    ...(further.length > 0
      ? { allowedScopes: [...defaultSettings(stack.clientType).allowedScopes, ...further] }
      : {}),
    // What these products map groups to is their own: they read every one.
    ...(stack.scopes.includes("groups") ? { groupsClaim: "all" as const } : {}),
    ...(stack.auth ? { tokenEndpointAuthMethod: stack.auth } : {}),
    ...(resource === undefined ? {} : { audience: resource, allowedResources: [resource] }),
    ...stack.settings,
  };
}

/** Whether the stack's redirect URI is derived from the application's address. */
export const usesAddress = ({ redirects, resourcePath }: Stack): boolean =>
  resourcePath !== undefined || redirects.some((one) => one.startsWith("/"));

/** Whether an application has what the stack needs, at whatever address. */
export function fitsStack(
  stack: Stack,
  { clientType, settings }: Pick<Application, "clientType" | "settings">,
): boolean {
  const isRegistered = (redirect: string) =>
    settings.redirectUris.some((uri) => (redirect.startsWith("/") ? pathOf(uri) : uri) === redirect);
  const needed = { ...(stack.auth ? { tokenEndpointAuthMethod: stack.auth } : {}), ...stack.settings };
  return (
    clientType === stack.clientType &&
    stack.redirects.slice(0, 1).every(isRegistered) &&
    (stack.resourcePath === undefined ||
      settings.allowedResources.some((uri) => pathOf(uri) === stack.resourcePath)) &&
    Object.entries(needed).every(([member, value]) => settings[member as keyof ApplicationSettings] === value)
  );
}

const pathOf = (uri: string): string => (/^https?:/.test(uri) ? uri.slice(new URL(uri).origin.length) : uri);

/** No stack needs these to work; an application that is allowed them was registered to read them. */
const accessScopes = ["roles", "groups", "permissions"] as const;

export const SECRET_PLACEHOLDER = "<client secret>";

/** The stack's own settings for an application, which may have been changed since it was created. */
export function setupOf(
  stack: Stack,
  { id, orgId, settings }: Pick<Application, "id" | "orgId" | "settings">,
  { baseUrl, clientSecret = SECRET_PLACEHOLDER }: { baseUrl: string; clientSecret?: string | undefined },
): readonly SetupFile[] {
  const issuer = issuerOf(baseUrl, orgId);
  const [redirectUri = "", ...others] = settings.redirectUris.map(quotable);
  const web = [redirectUri, ...others].find((uri) => /^https?:/.test(uri));
  const address = web === undefined ? stack.address : new URL(web).origin;
  return stack.setup({
    issuer,
    clientId: id,
    clientSecret,
    address,
    redirectUri,
    postLogoutRedirectUri: quotable(settings.postLogoutRedirectUris[0] ?? `${address}/`),
    scope: [...new Set([...stack.scopes, ...accessScopes])]
      .filter((scope) => settings.allowedScopes.includes(scope))
      .join(" "),
    resource: quotable(settings.allowedResources[0] ?? issuer),
  });
}

/** What is copied into a shell or a file must not end its quotes, nor run as a command. */
const quotable = (uri: string): string =>
  uri.replace(/['"`$\\]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
