/**
 * A protected resource: what access tokens are for (RFC 8707, RFC 9728). Its identifier is a value of `resource` and `aud`; its scopes
 * are granted in tokens for it alone; format, lifetime, algorithm and sender constraint of these tokens are its own to say.
 */
import { isTokenAlg, type TokenAlg } from "@signet/protocol/jose/jws";
import { parseScope } from "@signet/protocol/oauth/scope";
import type { RecordOf } from "../../db/records.ts";
import type { ProtectedResourceTable } from "../../db/tables/consents.ts";
import { lifetimeRanges } from "../applications/validation.ts";
import { isRecordName } from "../organisations/organisation.ts";
import type { CustomScope } from "../scopes/custom-scope.ts";

export const accessTokenFormats = ["jwt", "opaque"] as const;
export type AccessTokenFormat = (typeof accessTokenFormats)[number];

/** What its tokens are bound to: nothing, a key (RFC 9449), a certificate (RFC 8705), one of these. */
export const senderConstraints = ["none", "dpop", "mtls", "any"] as const;
export type SenderConstraint = (typeof senderConstraints)[number];

export interface ProtectedResource
  extends Omit<
    RecordOf<ProtectedResourceTable>,
    "enabled" | "accessTokenFormat" | "accessTokenAlg" | "senderConstraint" | "agentDeniedScopes"
  > {
  readonly enabled: boolean;
  readonly accessTokenFormat: AccessTokenFormat;
  /** Null: the application's. */
  readonly accessTokenAlg: TokenAlg | null;
  readonly senderConstraint: SenderConstraint;
  /** Those that clients which nobody has registered by hand never get. */
  readonly agentDeniedScopes: readonly string[];
}

/** With its scopes, which are records of their own. */
export interface ResourceWithScopes extends ProtectedResource {
  readonly scopes: readonly CustomScope[];
}

export type ResourceSettings = Pick<
  ProtectedResource,
  | "identifier"
  | "name"
  | "enabled"
  | "accessTokenFormat"
  | "accessTokenLifetimeSeconds"
  | "accessTokenAlg"
  | "senderConstraint"
  | "applicationId"
  | "agentDeniedScopes"
>;

export const resourceDefaults = {
  enabled: true,
  accessTokenFormat: "jwt",
  accessTokenLifetimeSeconds: null,
  accessTokenAlg: null,
  senderConstraint: "none",
  applicationId: null,
  agentDeniedScopes: [],
} as const satisfies Partial<ResourceSettings>;

/** Every token request looks at all of them. */
export const MAX_RESOURCES = 100;
export const MAX_IDENTIFIER = 2_048;
export const [MIN_LIFETIME_SECONDS, MAX_LIFETIME_SECONDS] = lifetimeRanges.accessTokenLifetimeSeconds;

/** For pages, which translate it. */
export type ResourceFaultCode =
  | "identifier"
  | "identifier-taken"
  | "identifier-own"
  | "name"
  | "format"
  | "lifetime"
  | "algorithm"
  | "constraint"
  | "application"
  | "scope-unknown"
  | "scope-taken"
  | "scope-form"
  | "too-many";

export interface ResourceFault {
  readonly path: string;
  readonly message: string;
  readonly code: ResourceFaultCode;
}

export class InvalidResource extends Error {
  override readonly name = "InvalidResource";
  readonly faults: readonly ResourceFault[];
  constructor(faults: readonly ResourceFault[]) {
    super(faults.map(({ path, message }) => `${path}: ${message}`).join("; "));
    this.faults = faults;
  }
}

export class ResourceConflict extends Error {
  override readonly name = "ResourceConflict";
  constructor() {
    super("the organisation has a resource with this identifier");
  }
}

/** RFC 8707 §2: an absolute URI without fragment. */
export const isResourceIdentifier = (uri: string): boolean =>
  uri.length <= MAX_IDENTIFIER && /^[\x21-\x7e]+$/.test(uri) && URL.canParse(uri) && !uri.includes("#");

/** @throws InvalidResource naming every fault */
export function requireValidResource(settings: ResourceSettings, baseUrl: string): void {
  const { identifier, name, accessTokenFormat, accessTokenLifetimeSeconds: lifetime } = settings;
  const { accessTokenAlg, senderConstraint, agentDeniedScopes } = settings;
  const isLifetime =
    lifetime === null ||
    (Number.isInteger(lifetime) && lifetime >= MIN_LIFETIME_SECONDS && lifetime <= MAX_LIFETIME_SECONDS);
  const faults: ResourceFault[] = [
    ...unless(isResourceIdentifier(identifier), "identifier", {
      ...{ code: "identifier", message: "must be an absolute URI without fragment (RFC 8707 §2)" },
    }),
    // Userinfo and the API of the service take tokens by rules of their own.
    ...unless(!isOwnAddress(identifier, baseUrl), "identifier", {
      ...{ code: "identifier-own", message: "is an address of this service itself" },
    }),
    ...unless(isRecordName(name), "name", {
      ...{ code: "name", message: "must be 1 to 100 characters without control characters" },
    }),
    ...unless(accessTokenFormats.includes(accessTokenFormat), "accessTokenFormat", {
      ...{ code: "format", message: `must be one of ${accessTokenFormats.join(", ")}` },
    }),
    ...unless(isLifetime, "accessTokenLifetimeSeconds", {
      code: "lifetime",
      message: `must be an integer from ${MIN_LIFETIME_SECONDS} to ${MAX_LIFETIME_SECONDS}`,
    }),
    ...unless(accessTokenAlg === null || isTokenAlg(accessTokenAlg), "accessTokenSignedResponseAlg", {
      ...{ code: "algorithm", message: "must be ES256, RS256, PS256 or EdDSA" },
    }),
    ...unless(senderConstraints.includes(senderConstraint), "senderConstraint", {
      ...{ code: "constraint", message: `must be one of ${senderConstraints.join(", ")}` },
    }),
    ...agentDeniedScopes.flatMap((scope, index) =>
      unless(isScopeName(scope), `agentDeniedScopes[${index}]`, {
        ...{ code: "scope-form", message: "is not a scope token (RFC 6749 §3.3)" },
      }),
    ),
  ];
  if (faults.length > 0) throw new InvalidResource(faults);
}

const unless = (isFine: boolean, path: string, fault: Omit<ResourceFault, "path">): ResourceFault[] =>
  isFine ? [] : [{ path, ...fault }];

const isOwnAddress = (identifier: string, baseUrl: string): boolean =>
  [`${baseUrl}/api/v1`, `${baseUrl}/oauth`].some(
    (own) => identifier === own || identifier.startsWith(`${own}/`),
  );

const isScopeName = (scope: string): boolean =>
  scope.length <= 100 && !scope.includes(" ") && parseScope(scope)?.length === 1;
