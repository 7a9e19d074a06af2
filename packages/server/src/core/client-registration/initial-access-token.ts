/** An initial access token: with it a client registers itself, within what it allows (RFC 7591 §1.2; modern-oauth.md §6). */
import { parseScope } from "@signet/protocol/oauth/scope";
import type { RecordOf } from "../../db/records.ts";
import type { InitialAccessTokenTable } from "../../db/tables/applications.ts";
import { type GrantType, grantTypes } from "../applications/application.ts";
import { isSecretLabel } from "../applications/client-secrets.ts";
import { API_SCOPE_PREFIX } from "../scopes/api-scopes.ts";

/** What a client that registers by it may have. */
export interface RegistrationBounds {
  readonly allowedScopes: readonly string[];
  readonly allowedResources: readonly string[];
  readonly grantTypes: readonly GrantType[];
}

type Encoded = "token_hash" | "allowed_scopes" | "allowed_resources" | "grant_types" | "enabled";

export interface InitialAccessToken
  extends RecordOf<Omit<InitialAccessTokenTable, Encoded>>,
    RegistrationBounds {
  readonly tokenHash: string;
  readonly enabled: boolean;
}

/** What is written; the rest is the record's own. */
export type InitialAccessTokenSettings = RegistrationBounds &
  Pick<InitialAccessToken, "label" | "expiresAt" | "maxUses" | "enabled">;

/** Milliseconds. */
export const DEFAULT_LIFETIME_MS = 86_400_000;
export const MAX_LIFETIME_MS = 90 * 86_400_000;
export const MAX_USES = 10_000;
/** Of an organisation, that are not over. */
export const MAX_TOKENS = 200;
/** Of those that are over, the oldest are forgotten first. */
export const MAX_OVER = 500;
/** Together no more than a request body of 64 KiB holds. */
export const MAX_SCOPES = 100;
export const MAX_RESOURCES = 20;

export const defaultBounds: RegistrationBounds = {
  allowedScopes: ["openid", "profile", "email", "offline_access"],
  allowedResources: [],
  grantTypes: ["authorization_code", "refresh_token"],
};

export const isOver = ({ expiresAt, uses, maxUses }: InitialAccessToken, now: number): boolean =>
  expiresAt <= now || uses >= maxUses;

export interface TokenFault {
  readonly path: string;
  readonly message: string;
}

export class InvalidInitialAccessToken extends Error {
  override readonly name = "InvalidInitialAccessToken";
  readonly faults: readonly TokenFault[];
  constructor(faults: readonly TokenFault[]) {
    super(faults.map(({ path, message }) => `${path}: ${message}`).join("; "));
    this.faults = faults;
  }
}

export class TooManyInitialAccessTokens extends Error {
  override readonly name = "TooManyInitialAccessTokens";
  constructor() {
    super(`an organisation has at most ${MAX_TOKENS} initial access tokens that are not over`);
  }
}

/**
 * @param from the latest time at which it may expire is counted from here
 * @param isDefined whether the organisation has the scope
 * @throws InvalidInitialAccessToken naming every fault
 */
export function requireValidToken(
  settings: InitialAccessTokenSettings,
  { now, from }: { readonly now: number; readonly from: number },
  isDefined: (scope: string) => boolean,
): void {
  const { label, expiresAt, maxUses } = settings;
  const faults = [
    ...requireThat(
      isSecretLabel(label),
      "label",
      "must be at most 100 characters without control characters",
    ),
    ...requireThat(
      expiresAt > now && expiresAt <= from + MAX_LIFETIME_MS,
      "expiresAt",
      "must be an RFC 3339 date-time in the future, at most 90 days after the token was created",
    ),
    ...requireThat(
      Number.isInteger(maxUses) && maxUses >= 1 && maxUses <= MAX_USES,
      "maxUses",
      `must be an integer from 1 to ${MAX_USES}`,
    ),
    ...boundFaults(settings, isDefined),
  ];
  if (faults.length > 0) throw new InvalidInitialAccessToken(faults);
}

const requireThat = (isFine: boolean, path: string, message: string): TokenFault[] =>
  isFine ? [] : [{ path, message }];

function boundFaults(bounds: RegistrationBounds, isDefined: (scope: string) => boolean): TokenFault[] {
  return [
    ...requireThat(bounds.allowedScopes.length <= MAX_SCOPES, "allowedScopes", `at most ${MAX_SCOPES}`),
    ...bounds.allowedScopes.flatMap((scope, index) => {
      const path = `allowedScopes[${index}]`;
      if (scope.startsWith(API_SCOPE_PREFIX))
        return [{ path, message: "gives access to the API, which such clients never have" }];
      const isKnown = parseScope(scope)?.length === 1 && isDefined(scope);
      return requireThat(isKnown, path, "is not a scope of the organisation: define it first");
    }),
    ...requireThat(
      bounds.allowedResources.length <= MAX_RESOURCES,
      "allowedResources",
      `at most ${MAX_RESOURCES}`,
    ),
    ...bounds.allowedResources.flatMap((uri, index) =>
      requireThat(
        uri.length <= 2_048 && URL.canParse(uri) && !uri.includes("#"),
        `allowedResources[${index}]`,
        "must be an absolute URI without fragment",
      ),
    ),
    ...requireThat(
      bounds.grantTypes.length > 0 && bounds.grantTypes.every((grant) => grantTypes.includes(grant)),
      "grantTypes",
      `must be some of ${grantTypes.join(", ")}`,
    ),
  ];
}
