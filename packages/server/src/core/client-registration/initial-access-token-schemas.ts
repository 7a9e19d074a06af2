/** An initial access token as members of a record, for the APIs (modern-oauth.md §6). */
import Type, { type Static, type TProperties } from "typebox";
import { grantTypes } from "../applications/application.ts";
import {
  DEFAULT_LIFETIME_MS,
  defaultBounds,
  type InitialAccessToken,
  type InitialAccessTokenSettings,
  MAX_RESOURCES,
  MAX_SCOPES,
  MAX_USES,
} from "./initial-access-token.ts";

const texts = (maxItems: number, maxLength: number, description: string) =>
  Type.Array(Type.String({ maxLength }), { maxItems, description });

/** What may be written. */
export const initialAccessTokenMembers = {
  label: Type.String({ maxLength: 100, description: "For people: what it is for" }),
  allowedScopes: texts(
    MAX_SCOPES,
    100,
    "What clients that register by it may ask for; default: openid profile email offline_access",
  ),
  allowedResources: texts(MAX_RESOURCES, 1_000, "What they may name as `resource` (RFC 8707); default: none"),
  grantTypes: Type.Array(Type.Enum([...grantTypes]), {
    ...{ minItems: 1, maxItems: grantTypes.length },
    description: "What they may register; default: authorization_code refresh_token",
  }),
  expiresAt: Type.String({
    format: "date-time",
    description: "Until then clients register by it; default: in 24 hours, at most in 90 days",
  }),
  maxUses: Type.Integer({
    ...{ minimum: 1, maximum: MAX_USES },
    description: "How many clients may register by it; default: 1",
  }),
  enabled: Type.Boolean({ description: "Default: true" }),
};

/** Of an answer. */
export const initialAccessTokenRecordMembers: TProperties = {
  id: Type.String({ format: "uuid" }),
  ...initialAccessTokenMembers,
  uses: Type.Integer({ description: "How many clients have registered by it" }),
  createdAt: Type.String({ format: "date-time" }),
};

/** Of the answer to its creation. */
export const shownToken = Type.Union([Type.String(), Type.Null()], { description: "`sgn_it_…`, shown once" });

type Members = typeof initialAccessTokenMembers;
/** As sent; null, or left out of a new record: the default. */
export type SentInitialAccessToken = {
  readonly [Name in keyof Members]?: Static<Members[Name]> | null;
};

/**
 * The settings that a body says.
 * @param times.readTime undefined for what is no time
 * @param before what is left out stays as it was there; undefined: the default
 */
export function initialAccessTokenSettings(
  sent: SentInitialAccessToken,
  { now, readTime }: { readonly now: number; readTime(text: string): number | undefined },
  before?: InitialAccessToken,
): InitialAccessTokenSettings {
  const unset: InitialAccessTokenSettings = {
    ...{ ...defaultBounds, label: "", maxUses: 1, enabled: true },
    expiresAt: (before?.createdAt ?? now) + DEFAULT_LIFETIME_MS,
  };
  const pick = <Name extends keyof InitialAccessTokenSettings>(name: Name) => {
    const value = sent[name] as InitialAccessTokenSettings[Name] | null | undefined;
    return value === undefined && before ? before[name] : (value ?? unset[name]);
  };
  const { expiresAt } = sent;
  return {
    label: pick("label").trim(),
    ...{ allowedScopes: pick("allowedScopes"), allowedResources: pick("allowedResources") },
    ...{ grantTypes: pick("grantTypes"), maxUses: pick("maxUses"), enabled: pick("enabled") },
    // What is no time is none in the future.
    expiresAt: typeof expiresAt === "string" ? (readTime(expiresAt) ?? 0) : pick("expiresAt"),
  };
}

export const initialAccessTokenRecord = (token: InitialAccessToken, wireTime: (at: number) => string) => ({
  ...{ id: token.id, label: token.label },
  allowedScopes: token.allowedScopes,
  allowedResources: token.allowedResources,
  grantTypes: token.grantTypes,
  expiresAt: wireTime(token.expiresAt),
  ...{ maxUses: token.maxUses, enabled: token.enabled, uses: token.uses },
  createdAt: wireTime(token.createdAt),
});
