/** An initial access token as form fields: read, displayed, and the rules' faults by field. */
import { type GrantType, grantTypes } from "../../../core/applications/application.ts";
import {
  DEFAULT_LIFETIME_MS,
  defaultBounds,
  type InitialAccessToken,
  type InitialAccessTokenSettings,
  InvalidInitialAccessToken,
  isOver,
  MAX_LIFETIME_MS,
  TooManyInitialAccessTokens,
} from "../../../core/client-registration/initial-access-token.ts";
import type { DurationText } from "../../../html/components/duration-input.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { SentForm } from "../../../page-kit/accept-form.ts";
import { readDurationText, toSeconds } from "../../../page-kit/read-fields.ts";
import { grantNames, toGrantName } from "../applications/setting-fields.ts";
import { displayLifetime, lifetimeText, yesOrNo } from "../plain-records/fields.ts";
import { faultsByField, wordsOf } from "../plain-records/plain-record.ts";

export interface TokenInput {
  readonly label: string;
  readonly maxUses: string;
  /** From its creation. */
  readonly expiresAt: DurationText;
  readonly allowedScopes: readonly string[];
  /** One a line. */
  readonly allowedResources: string;
  /** Names of `grantNames`. */
  readonly grantTypes: readonly string[];
  readonly enabled: boolean;
}

/** Its lifetime is counted from its creation. */
export type WantedToken = Omit<InitialAccessTokenSettings, "expiresAt"> & {
  readonly lifetimeSeconds: number;
};

/** A token as its pages show it. */
export type ShownToken = InitialAccessToken & { readonly state: TokenState };
export type TokenState = "active" | "disabled" | "expired" | "used";

export const LIFETIME_RANGE = [60, MAX_LIFETIME_MS / 1_000] as const;

export function shownToken(token: InitialAccessToken, now: number): ShownToken {
  const over = token.expiresAt <= now ? "expired" : "used";
  return { ...token, state: isOver(token, now) ? over : token.enabled ? "active" : "disabled" };
}

export const emptyToken = (): TokenInput => ({
  ...{ label: "", maxUses: "1", enabled: true, allowedResources: "" },
  expiresAt: lifetimeText(DEFAULT_LIFETIME_MS / 1_000),
  allowedScopes: defaultBounds.allowedScopes,
  grantTypes: defaultBounds.grantTypes.map(toGrantName),
});

const lifetimeOf = ({ createdAt, expiresAt }: InitialAccessToken): number =>
  Math.round((expiresAt - createdAt) / 1_000);

export const toTokenInput = (token: InitialAccessToken): TokenInput => ({
  ...{ label: token.label, maxUses: String(token.maxUses), enabled: token.enabled },
  expiresAt: lifetimeText(lifetimeOf(token)),
  ...{ allowedScopes: token.allowedScopes, grantTypes: token.grantTypes.map(toGrantName) },
  allowedResources: token.allowedResources.join("\n"),
});

export function readTokenInput({ values, all, ...form }: SentForm): TokenInput {
  const text = (id: string, max: number) => (values.get(id) ?? "").trim().slice(0, max);
  return {
    ...{ label: text("label", 200), maxUses: text("maxUses", 20) },
    expiresAt: readDurationText({ ...form, values }, "expiresAt"),
    ...{ allowedScopes: all("allowedScopes"), grantTypes: all("grantTypes") },
    allowedResources: text("allowedResources", 40_000),
    enabled: values.get("enabled") === "on",
  };
}

/** What is none of the choices stays as it came, and the rules refuse it. */
export const toWantedToken = (input: TokenInput): WantedToken => ({
  ...{ label: input.label, allowedScopes: input.allowedScopes, enabled: input.enabled },
  maxUses: /^\d{1,9}$/.test(input.maxUses) ? Number(input.maxUses) : 0,
  lifetimeSeconds: toSeconds(input.expiresAt) ?? 0,
  allowedResources: wordsOf(input.allowedResources),
  grantTypes: input.grantTypes.map(toGrantType),
});

const toGrantType = (name: string): GrantType =>
  Object.hasOwn(grantNames, name) ? grantNames[name as keyof typeof grantNames] : (name as GrantType);

export const newSettings = (
  { lifetimeSeconds, ...settings }: WantedToken,
  now: number,
): InitialAccessTokenSettings => ({ ...settings, expiresAt: now + lifetimeSeconds * 1_000 });

/** A lifetime that nobody changed keeps the milliseconds that the API gave it. */
export const changedSettings = (
  { lifetimeSeconds, ...settings }: WantedToken,
  before: InitialAccessToken,
): InitialAccessTokenSettings =>
  lifetimeSeconds === lifetimeOf(before)
    ? { ...settings, expiresAt: before.expiresAt }
    : newSettings({ ...settings, lifetimeSeconds }, before.createdAt);

export const grantChoices = ({ console }: Messages) =>
  grantTypes.map(toGrantName).map((value) => {
    const texts: Readonly<Record<string, string>> = console.applicationSettings.choices;
    return { value, label: texts[value] ?? value };
  });

/** @param names of `grantNames` */
export const grantWords = (names: readonly string[], messages: Messages): string =>
  names.map((name) => grantChoices(messages).find(({ value }) => value === name)?.label ?? name).join(", ");

export const displayToken = (input: TokenInput, messages: Messages) => ({
  ...{ label: input.label, maxUses: input.maxUses, enabled: yesOrNo(input.enabled, messages) },
  expiresAt: displayLifetime(input.expiresAt, messages),
  ...{ allowedScopes: input.allowedScopes.join(" "), allowedResources: input.allowedResources },
  grantTypes: grantWords(input.grantTypes, messages),
});

/** @throws what is not about what was typed */
export function tokenFaults(error: unknown, { console }: Messages): Record<string, string> {
  const { faults: texts } = console.initialAccessTokens;
  if (error instanceof TooManyInitialAccessTokens) return { label: texts.tooMany };
  if (!(error instanceof InvalidInitialAccessToken)) throw error;
  return faultsByField(error.faults, texts);
}
