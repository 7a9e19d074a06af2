/**
 * Individually requested claims (OpenID Connect Core §5.5). A claim counts as the scope that contains it: the
 * application must be allowed that scope, and the user is asked for it.
 */
import type { User } from "../users/user.ts";
import { type Claims, customClaims } from "./custom-claims.ts";
import type { CustomScope, ScopeFingerprints } from "./custom-scope.ts";
import { claimsOfScopes, isLateClaim, scopeClaims, withoutCustom, withStandardClaims } from "./scopes.ts";

export interface ClaimRequest {
  readonly essential: boolean;
  /** Acceptable values (`value` or `values`), best first; undefined for any. */
  readonly values: readonly unknown[] | undefined;
}

/** By claim name, in the client's order. Names are untrusted: look them up with `Object.hasOwn`. */
export type ClaimRequests = Readonly<Record<string, ClaimRequest>>;

export interface RequestedClaims {
  readonly userinfo: ClaimRequests;
  readonly idToken: ClaimRequests;
}

export const noRequestedClaims: RequestedClaims = { userinfo: {}, idToken: {} };

/** As stored with codes and token families: null for none, as almost always. */
export function writeRequestedClaims(requested: RequestedClaims): string | null {
  const count = Object.keys(requested.userinfo).length + Object.keys(requested.idToken).length;
  return count === 0 ? null : JSON.stringify(requested);
}

export const readRequestedClaims = (text: string | null): RequestedClaims =>
  text === null ? noRequestedClaims : (JSON.parse(text) as RequestedClaims);

/** The scope that contains a claim, if the application may request it. */
function scopeOfClaim(
  name: string,
  allowed: readonly string[],
  customScopes: readonly CustomScope[],
): string | undefined {
  const standard = Object.entries(scopeClaims).find(([, claims]) => claims.includes(name))?.[0];
  const standardScopes = withoutCustom(standard === undefined ? [] : [standard], customScopes);
  const custom = customScopes
    .filter(({ claims }) => claims.some((claim) => claim.name === name))
    .map((scope) => scope.name);
  const scopes = isLateClaim(name) ? [...custom, ...standardScopes] : [...standardScopes, ...custom];
  return scopes.find((scope) => allowed.includes(scope));
}

/** About the sign-in behind the grant, not about the user: no scope contains them (connections.md §4, "Tokens"). */
export const signInClaims = ["idp", "upstream"] as const;

const isSignInClaim = (name: string): boolean => (signInClaims as readonly string[]).includes(name);

export const asksForSignIn = (requests: ClaimRequests): boolean =>
  signInClaims.some((name) => Object.hasOwn(requests, name));

/**
 * @returns the claims that this application may request, and their scopes; others are ignored, even essential ones
 * (§5.5.1: not an error)
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
        return scope !== undefined || isSignInClaim(name);
      }),
    );
  const allowedClaims = { userinfo: readable(requested.userinfo), idToken: readable(requested.idToken) };
  return { requested: allowedClaims, scopes: [...scopes] };
}

export interface RequestedValues {
  readonly user: User;
  readonly customScopes: readonly CustomScope[];
  readonly allowed: readonly string[];
  readonly consented: ScopeFingerprints | undefined;
  /** The claims of the entitlement scopes that are requested. */
  readonly entitled: Claims;
  /** Of the sign-in at an identity provider; undefined where there was none, or nobody asks. */
  readonly signIn?: Claims | undefined;
}

/**
 * The values of requested claims, each from the scope it counts as: another scope with the same claim may lack
 * consent. A value that is not acceptable is omitted.
 */
export function requestedValues(requests: ClaimRequests, about: RequestedValues): Claims {
  const values = Object.entries(requests)
    .map(([name, request]) => ({ name, request, value: claimValueOf(name, about) }))
    .filter(({ request, value }) => value !== undefined && isWanted(request, value));
  return Object.fromEntries(values.map(({ name, value }) => [name, value]));
}

function claimValueOf(name: string, about: RequestedValues): unknown {
  const { user, allowed, customScopes, entitled, signIn = {} } = about;
  const scope = scopeOfClaim(name, allowed, customScopes);
  if (scope === undefined)
    return isSignInClaim(name) && Object.hasOwn(signIn, name) ? signIn[name] : undefined;
  const standard = claimsOfScopes(user, withoutCustom([scope], customScopes), entitled);
  const claims = withStandardClaims(customClaims({ ...about, scopes: [scope] }), standard);
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

const isWanted = ({ values }: ClaimRequest, value: unknown): boolean =>
  values === undefined || values.some((wanted) => JSON.stringify(wanted) === JSON.stringify(value));
