/** Validates a custom scope. Reports all faults together, each with its member's path. */
import { isNestedWithin } from "@signet/protocol/json-depth";
import { isExactJson } from "@signet/protocol/json-exact";
import { parseScope } from "@signet/protocol/oauth/scope";
import { API_SCOPE_PREFIX } from "./api-scopes.ts";
import { type CustomScope, claimSources, type ScopeClaim } from "./custom-scope.ts";
import { entitlementScopes, isSignalScope, lateStandardScopes, standardScopes } from "./scopes.ts";

/** For pages, which translate it. */
export type ScopeFaultCode =
  | "name-form"
  | "name-standard"
  | "name-reserved"
  | "too-many-scopes"
  | "text"
  | "too-many-claims"
  | "claim-name"
  | "claim-reserved"
  | "claim-source"
  | "claim-path"
  | "claim-value"
  | "claim-meaning"
  | "claim-twice";

export interface ScopeFault {
  readonly path: string;
  readonly message: string;
  readonly code: ScopeFaultCode;
}

export class InvalidScope extends Error {
  readonly faults: readonly ScopeFault[];
  constructor(faults: readonly ScopeFault[]) {
    super(faults.map(({ path, message }) => `${path}: ${message}`).join("; "));
    this.name = "InvalidScope";
    this.faults = faults;
  }
}

/**
 * Reserved claims: they have a meaning in token formats (RFC 7519 §4.1, RFC 7800, RFC 8693, RFC 9068, OpenID Connect
 * Core §2 and §3.3.2.11, Back-Channel Logout §2.4, RFC 7662 §2.2) or are computed by standard scopes, so that readers
 * of a token act on them.
 */
const reserved: ReadonlySet<string> = new Set(
  `iss sub aud exp iat nbf jti client_id scope scopes azp auth_time acr amr cnf device_id device_attestation act may_act org_id nonce at_hash c_hash
  s_hash sid sub_jwk events txn toe active token_type username authorization_details entitlements
  name email_verified phone_number_verified updated_at _claim_names _claim_sources
  roles_overage groups_overage permissions_overage`.split(/\s+/),
);

/** Reserved later: scopes that have such a claim keep it. */
const reservedLater: readonly string[] = [...entitlementScopes, "workload", "exchanged_from"];

/** Whether the token format defines it: any other claim is of a custom scope. */
export const isDefinedClaim = (name: string): boolean => reserved.has(name) || reservedLater.includes(name);

/** Claims with a standard meaning: only the account's own value is allowed. */
const meanings: Readonly<Record<string, string>> = {
  email: "email",
  given_name: "firstname",
  family_name: "surname",
  phone_number: "phone",
  preferred_username: "username",
  locale: "locale",
};

/** Sources of a claim, besides `attributes.<name>`. */
export const claimPaths = {
  user: ["email", "firstname", "surname", "phone", "permId", "username", "locale"],
  membership: ["role", "groups"],
} as const;

export const IS_STANDARD = "is a standard scope";

const limits = { claims: 50, value: 2_000 } as const;
export const MAX_CLAIMS = limits.claims;

type Checked = Pick<CustomScope, "name" | "displayName" | "description" | "claims">;

/**
 * @param before the scope as it is, for a change: its name may have become a standard one later, and the names of its claims
 * reserved ones
 * @throws InvalidScope naming every fault
 */
export function requireValidScope(scope: Checked, before?: Pick<CustomScope, "claims">): void {
  const mayExist = before !== undefined;
  const kept = (before?.claims ?? []).map(({ name }) => name).filter((name) => reservedLater.includes(name));
  const faults = [
    ...nameFaults(scope.name, mayExist),
    ...textFaults("displayName", scope.displayName, 1, 100),
    ...textFaults("description", scope.description, 0, 500),
    ...(scope.claims.length > limits.claims
      ? [{ path: "claims", message: `at most ${limits.claims}`, code: "too-many-claims" as const }]
      : []),
    ...scope.claims.flatMap((claim, index) => claimFaults(claim, `claims[${index}]`, kept)),
    ...duplicates(scope.claims),
  ];
  if (faults.length > 0) throw new InvalidScope(faults);
}

function nameFaults(name: string, mayExist: boolean): ScopeFault[] {
  if (parseScope(name)?.length !== 1 || name.includes(" ") || name.length > 100)
    return [
      {
        path: "name",
        message: "must be one scope token of at most 100 characters (RFC 6749 §3.3)",
        code: "name-form",
      },
    ];
  if (isSignalScope(name) && !mayExist)
    return [{ path: "name", message: IS_STANDARD, code: "name-standard" }];
  if (name.startsWith(API_SCOPE_PREFIX) && !mayExist)
    return [{ path: "name", message: `must not begin with ${API_SCOPE_PREFIX}`, code: "name-reserved" }];
  const standard: readonly string[] = standardScopes;
  return standard.includes(name) && !(mayExist && lateStandardScopes.includes(name))
    ? [{ path: "name", message: IS_STANDARD, code: "name-standard" }]
    : [];
}

function textFaults(path: string, text: string, min: number, max: number): ScopeFault[] {
  const length = [...text.trim()].length;
  // Control and bidirectional characters could deceive on the consent page.
  const deceptive = /[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text);
  return length < min || length > max || deceptive
    ? [{ path, message: `must be ${min} to ${max} characters without control characters`, code: "text" }]
    : [];
}

function claimFaults(claim: ScopeClaim, path: string, kept: readonly string[]): ScopeFault[] {
  const { name } = claim;
  const fault = (member: string, code: ScopeFaultCode, message: string) => [
    { path: `${path}.${member}`, message, code },
  ];
  if (!/^[A-Za-z][A-Za-z0-9_.:/-]{0,99}$/.test(name))
    return fault("name", "claim-name", "must be 1 to 100 of A-Z a-z 0-9 _ . : / - and begin with a letter");
  if (reserved.has(name) || (reservedLater.includes(name) && !kept.includes(name)))
    return fault("name", "claim-reserved", `${name} is reserved`);
  if (!claimSources.includes(claim.source))
    return fault("source", "claim-source", `must be one of ${claimSources.join(", ")}`);
  if (claim.source === "static") {
    if (!isClaimValue(claim.value))
      return fault("value", "claim-value", `must be a JSON value of at most ${limits.value} characters`);
  } else if (!isPath(claim.source, claim.path)) {
    const known = [...claimPaths[claim.source], "attributes.<name>"].join(", ");
    return fault("path", "claim-path", `must be one of ${known}`);
  }
  const meaning = Object.hasOwn(meanings, name) ? meanings[name] : undefined;
  return meaning === undefined || (claim.source === "user" && claim.path === meaning)
    ? []
    : fault("name", "claim-meaning", `${name} may only be the user's ${meaning}`);
}

function isClaimValue(value: unknown): boolean {
  if (value === null || !isNestedWithin(value) || !isExactJson(value)) return false;
  const length = JSON.stringify(value)?.length ?? 0;
  return length >= 1 && length <= limits.value;
}

const isPath = (source: "user" | "membership", path: string): boolean =>
  (claimPaths[source] as readonly string[]).includes(path) || /^attributes\.[A-Za-z0-9_-]{1,100}$/.test(path);

function duplicates(claims: readonly ScopeClaim[]): ScopeFault[] {
  const seen = new Set<string>();
  return claims.flatMap(({ name }, index) => {
    const isFirst = seen.size < seen.add(name).size;
    if (isFirst) return [];
    return [{ path: `claims[${index}].name`, message: `${name} is a duplicate`, code: "claim-twice" }];
  });
}
