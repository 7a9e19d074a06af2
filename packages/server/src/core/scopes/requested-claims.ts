/**
 * The claims that a client asks for one by one (OpenID Connect Core §5.5): what they count as, and their values. A claim
 * counts as the scope that has it: the application must be allowed that scope, and the user is asked for it.
 */
import type { User } from "../users/user.ts";
import { type Claims, customClaims } from "./custom-claims.ts";
import type { CustomScope, ScopeFingerprints } from "./custom-scope.ts";
import { claimsOfScopes, scopeClaims } from "./scopes.ts";

/** How one claim is asked for (§5.5.1). */
export interface ClaimRequest {
  /** True when the client cannot do without it. */
  readonly essential: boolean;
  /** What it should be, best first; undefined when any value will do. `value` and `values` both end here. */
  readonly values: readonly unknown[] | undefined;
}

/** By claim name, in the client's order. Names come from strangers: look them up with `Object.hasOwn`. */
export type ClaimRequests = Readonly<Record<string, ClaimRequest>>;

export interface RequestedClaims {
  readonly userinfo: ClaimRequests;
  readonly idToken: ClaimRequests;
}

export const noRequestedClaims: RequestedClaims = { userinfo: {}, idToken: {} };

/** As codes and token families keep them: null when nothing is asked for, as almost always. */
export function writeRequestedClaims(requested: RequestedClaims): string | null {
  const count = Object.keys(requested.userinfo).length + Object.keys(requested.idToken).length;
  return count === 0 ? null : JSON.stringify(requested);
}

export const readRequestedClaims = (text: string | null): RequestedClaims =>
  text === null ? noRequestedClaims : (JSON.parse(text) as RequestedClaims);

/** The scope that has a claim, if the application may ask for it. */
function scopeOfClaim(
  name: string,
  allowed: readonly string[],
  customScopes: readonly CustomScope[],
): string | undefined {
  const standard = Object.entries(scopeClaims).find(([, claims]) => claims.includes(name))?.[0];
  const scopes = [
    ...(standard === undefined ? [] : [standard]),
    ...customScopes
      .filter(({ claims }) => claims.some((claim) => claim.name === name))
      .map((scope) => scope.name),
  ];
  return scopes.find((scope) => allowed.includes(scope));
}

/**
 * @returns the requests that mean something here, and the scopes that they count as; a claim that is not known, or not
 *   this application's to ask for, is left out, essential or not (§5.5.1: it is no error)
 */
export function readableClaims(
  requested: RequestedClaims,
  allowed: readonly string[],
  customScopes: readonly CustomScope[],
): { requested: RequestedClaims; scopes: readonly string[] } {
  const scopes = new Set<string>();
  const readable = (requests: ClaimRequests): ClaimRequests =>
    Object.fromEntries(
      Object.entries(requests).filter(([name]) => {
        const scope = scopeOfClaim(name, allowed, customScopes);
        if (scope !== undefined) scopes.add(scope);
        return scope !== undefined;
      }),
    );
  const kept = { userinfo: readable(requested.userinfo), idToken: readable(requested.idToken) };
  return { requested: kept, scopes: [...scopes] };
}

export interface RequestedValues {
  readonly user: User;
  readonly customScopes: readonly CustomScope[];
  readonly allowed: readonly string[];
  readonly consented: ScopeFingerprints | undefined;
}

/**
 * The values of what was asked for, each from the scope that it counts as: another scope may have a claim of the same name
 * and nobody's yes. One that is none of the wanted values is not told at all.
 */
export function requestedValues(requests: ClaimRequests, about: RequestedValues): Claims {
  const told = Object.entries(requests)
    .map(([name, request]) => ({ name, request, value: toldValue(name, about) }))
    .filter(({ request, value }) => value !== undefined && isWanted(request, value));
  return Object.fromEntries(told.map(({ name, value }) => [name, value]));
}

function toldValue(name: string, about: RequestedValues): unknown {
  const { user, allowed, customScopes } = about;
  const scope = scopeOfClaim(name, allowed, customScopes);
  if (scope === undefined) return undefined;
  const claims = { ...customClaims({ ...about, scopes: [scope] }), ...claimsOfScopes(user, [scope]) };
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

const isWanted = ({ values }: ClaimRequest, value: unknown): boolean =>
  values === undefined || values.some((wanted) => JSON.stringify(wanted) === JSON.stringify(value));
