/**
 * The scopes of API v1 (api-v1.md, "Access"): what a client may do with its organisation's records. They are the service's own,
 * like the standard ones, but tell nothing of a user.
 */
import { withoutCustom } from "./scopes.ts";

/** No organisation's own scope begins so; one that was made before this rule keeps its own meaning. */
export const API_SCOPE_PREFIX = "signet:";

/** Each can be read, and changed; to change includes to read. */
export const apiAreas = [
  ...(["users", "groups", "roles", "applications"] as const),
  ...(["connections", "organisation", "devices", "pools"] as const),
] as const;
export type ApiArea = (typeof apiAreas)[number];

export const apiScopes = [
  ...apiAreas.flatMap((area) => [`signet:${area}:read`, `signet:${area}:write`] as const),
  "signet:audit:read" as const,
];

/** Of the operators' organisation alone: they make, suspend and end organisations. */
export const operatorScopes = ["signet:organisations:read", "signet:organisations:write"] as const;
export type OperatorScope = (typeof operatorScopes)[number];
export type ApiScope = (typeof apiScopes)[number] | OperatorScope;

export const isOperatorScope = (name: string): name is OperatorScope =>
  (operatorScopes as readonly string[]).includes(name);

export const isApiScope = (name: string): name is ApiScope =>
  (apiScopes as readonly string[]).includes(name) || isOperatorScope(name);

/** Those of the names that give access to the API in an organisation with these custom scopes. */
export const apiScopesOf = (
  names: readonly string[],
  customScopes: Parameters<typeof withoutCustom>[1],
): ApiScope[] => withoutCustom(names, customScopes).filter(isApiScope);

/**
 * What a user may grant an application: access to the API is an administrator's. Agents of a signing pool sign none.
 * @param user undefined while nobody has signed in yet
 */
export const grantableByUser = (
  scopes: readonly string[],
  user: { readonly role: string } | undefined,
  { signingPoolId }: { readonly signingPoolId?: string },
): readonly string[] =>
  signingPoolId === undefined && (user === undefined || user.role === "Administrator")
    ? scopes
    : scopes.filter((scope) => !isApiScope(scope));

/** `write` includes `read`. */
export const holdsApiScope = (held: readonly ApiScope[], wanted: ApiScope): boolean =>
  held.some((scope) => scope === wanted || scope === wanted.replace(/:read$/, ":write"));

/** The `aud` of tokens for the API, and the `resource` that asks for one (RFC 8707). */
export const apiAudience = (baseUrl: string): string => `${baseUrl}/api/v1`;

/**
 * What an application may name as `resource` (RFC 8707) of a user's token: its own, and the API where users can give it access
 * to that.
 */
export function nameableResources(
  { settings }: { readonly settings: ResourceSettings },
  customScopes: Parameters<typeof withoutCustom>[1],
  baseUrl: string,
): readonly string[] {
  const { allowedResources, allowedScopes, signingPoolId } = settings;
  if (signingPoolId !== undefined || apiScopesOf(allowedScopes, customScopes).length === 0)
    return allowedResources;
  return [...allowedResources, apiAudience(baseUrl)];
}

interface ResourceSettings {
  readonly allowedResources: readonly string[];
  readonly allowedScopes: readonly string[];
  readonly signingPoolId?: string;
}
