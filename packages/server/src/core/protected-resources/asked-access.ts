/**
 * Which scopes and resources go together (RFC 8707, RFC 9068 §3): a scope that belongs to a resource is granted in tokens for this
 * resource alone. Every endpoint that grants something decides it here.
 */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { Application } from "../applications/application.ts";
import type { DetailType } from "../authorization-details/detail-type.ts";
import type { DetailTypeDirectory } from "../authorization-details/detail-types.ts";
import { resourcesOfTypes, usableTypes } from "../authorization-details/details.ts";
import { apiAudience, apiScopesOf, nameableResources } from "../scopes/api-scopes.ts";
import type { CustomScope } from "../scopes/custom-scope.ts";
import type { CustomScopeDirectory } from "../scopes/custom-scopes.ts";
import type { ProtectedResource } from "./protected-resource.ts";
import type { ProtectedResourceDirectory } from "./protected-resources.ts";

export interface AccessDeps {
  readonly customScopes: Pick<CustomScopeDirectory, "list">;
  readonly protectedResources: Pick<ProtectedResourceDirectory, "list">;
  readonly detailTypes: Pick<DetailTypeDirectory, "list">;
  readonly baseUrl: string;
}

/** What the decision looks at. */
export interface AccessRules {
  readonly customScopes: readonly CustomScope[];
  readonly resources: readonly ProtectedResource[];
  readonly detailTypes: readonly DetailType[];
  readonly baseUrl: string;
}

export const readAccessRules = async (deps: AccessDeps, orgId: string): Promise<AccessRules> => ({
  customScopes: await deps.customScopes.list(orgId),
  resources: await deps.protectedResources.list(orgId),
  detailTypes: await deps.detailTypes.list(orgId),
  baseUrl: deps.baseUrl,
});

export interface Access {
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
}

/**
 * What the application may name as `resource`: also each resource of which it may have a scope or authorization details, and the one
 * that is its audience. None that is disabled. Of an application that another organisation shares: what this one has granted the
 * scopes of, since its other settings are its home's to write.
 */
export function nameableBy(application: Application, rules: AccessRules): readonly string[] {
  const { customScopes, resources, baseUrl } = rules;
  const ofTypes = resourcesOfTypes(usableTypes(application, rules.detailTypes), baseUrl);
  const named = [...nameableResources(application, customScopes, baseUrl), ...ofTypes];
  if (resources.length === 0) return named;
  const { allowedScopes, audience } = application.settings;
  const ofScopes = allowedScopes.flatMap((scope) => ownerOf(scope, rules)?.identifier ?? []);
  const registered = (identifier: string) => resources.find((one) => one.identifier === identifier);
  const own = audience !== undefined && registered(audience) ? [audience] : [];
  const isShared = application.homeOrgId !== null;
  const ofSettings = isShared ? named.filter((one) => !registered(one)) : [...named, ...own];
  return [...new Set([...ofSettings, ...ofScopes])].filter(
    (identifier) => registered(identifier)?.enabled !== false,
  );
}

/** The resource that the scope belongs to. */
function ownerOf(scope: string, { customScopes, resources }: AccessRules): ProtectedResource | undefined {
  const id = customScopes.find(({ name }) => name === scope)?.resourceId ?? null;
  return id === null ? undefined : resources.find((one) => one.id === id);
}

/**
 * A scope without `resource` means its resource; one of another resource than those named is left out, and so is the API where the
 * token is for somebody else's resource (RFC 8707 §2.2). An audience that is a resource's identifier stands for the resource.
 * @throws OAuthError invalid_scope for scopes of two resources without `resource`, and where none is left
 */
export function resolveAccess(asked: Access, application: Application, rules: AccessRules): Access {
  if (rules.resources.length === 0) return asked;
  const owned = asked.scopes.map((name) => ({ name, owner: ownerOf(name, rules) }));
  const usable = owned.filter(({ owner }) => owner === undefined || owner.enabled);
  const resources = asked.resources.length > 0 ? asked.resources : implied(usable, application, rules);
  const isElsewhere = resources.length > 0 && !resources.includes(apiAudience(rules.baseUrl));
  const ofApi: readonly string[] = isElsewhere ? apiScopesOf(asked.scopes, rules.customScopes) : [];
  const left = usable.filter(
    ({ name, owner }) =>
      !ofApi.includes(name) && (owner === undefined || resources.includes(owner.identifier)),
  );
  return someScopes(asked, left, resources);
}

interface Owned {
  readonly name: string;
  readonly owner: ProtectedResource | undefined;
}

/** What the token is for where nobody has said: the resource of its scopes, else the one that is the application's audience. */
function implied(
  usable: readonly Owned[],
  { settings: { audience }, homeOrgId }: Application,
  rules: AccessRules,
): readonly string[] {
  const owners = new Set(usable.flatMap(({ owner }) => owner?.identifier ?? []));
  if (owners.size > 1) throw ofTwoResources();
  if (owners.size === 1) return [...owners];
  const resource = rules.resources.find(({ identifier }) => identifier === audience);
  const names = usable.map(({ name }) => name);
  // A token for the API alone is for nobody else, whatever the application's audience is.
  const isForApi = names.length > 0 && apiScopesOf(names, rules.customScopes).length === names.length;
  if (!resource || isForApi) return [];
  // What another organisation has written says nothing about a resource of this one; for a disabled one nothing is issued.
  if (!resource.enabled || homeOrgId !== null)
    throw invalidTarget("the application may not get tokens for the resource that is its audience");
  return [resource.identifier];
}

const ofTwoResources = () =>
  new OAuthError("invalid_scope", "the scopes belong to different resources: name one with resource", {
    reason: "scope-not-allowed",
  });

function someScopes(
  asked: Access,
  left: ReadonlyArray<{ readonly name: string }>,
  resources: readonly string[],
): Access {
  if (left.length > 0 || asked.scopes.length === 0)
    return { scopes: left.map(({ name }) => name), resources };
  throw new OAuthError("invalid_scope", "none of the scopes is of the resource that is asked for", {
    reason: "scope-not-allowed",
  });
}

/**
 * The resource whose rules the access token follows; undefined where it is for none of the organisation's.
 * @throws OAuthError where it would be for two (RFC 9068 §3), or is opaque and an agent would sign it
 */
export function tokenResource(
  { scopes, resources }: Access,
  { settings }: Pick<Application, "settings">,
  rules: AccessRules,
): ProtectedResource | undefined {
  const [resource, ...others] = rules.resources.filter(({ identifier }) => resources.includes(identifier));
  if (others.length > 0) {
    const owners = new Set(scopes.flatMap((scope) => ownerOf(scope, rules)?.id ?? []));
    throw owners.size > 1 ? ofTwoResources() : invalidTarget("a token is for one resource: name it");
  }
  if (resource?.accessTokenFormat === "opaque" && settings.signingPoolId !== undefined)
    throw invalidTarget("the resource takes opaque tokens, which no signing pool signs");
  return resource;
}

const invalidTarget = (description: string) =>
  new OAuthError("invalid_target", description, { reason: "resource-not-allowed" });

/**
 * Whether the token is for this client as a resource server: by its own id or audience, or as the application of a resource.
 * @param aud of the token
 */
export function isAudience(
  { id, settings }: Pick<Application, "id" | "settings">,
  aud: string | readonly string[],
  resources: readonly ProtectedResource[],
): boolean {
  const audience = typeof aud === "string" ? [aud] : aud;
  // Whose resource it is, an administrator has said: what another application calls itself does not count then.
  const isOthers = resources.some(
    ({ applicationId, identifier }) => identifier === settings.audience && (applicationId ?? id) !== id,
  );
  return (
    audience.includes(id) ||
    (settings.audience !== undefined && !isOthers && audience.includes(settings.audience)) ||
    resources.some(({ applicationId, identifier }) => applicationId === id && audience.includes(identifier))
  );
}
