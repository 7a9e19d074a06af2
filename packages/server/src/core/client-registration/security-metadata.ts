/** Settings of modern OAuth as client metadata: `dpopBoundAccessTokens` is `dpop_bound_access_tokens` (modern-oauth.md §1). */
import type { ApplicationSettings } from "../applications/application.ts";
import {
  declaredSettings,
  type SecuritySetting,
  type SecuritySettings,
  securitySettings,
} from "../applications/security-settings.ts";

export const metadataName = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const isOfKind = (name: SecuritySetting, value: unknown): boolean => {
  const { kind } = declaredSettings[name];
  if (kind === "flag") return typeof value === "boolean";
  if (kind === "list") return Array.isArray(value) && value.every((one) => typeof one === "string");
  return typeof value === "string";
};

/** @param refuse throws for a member of the wrong kind */
export function readSecurityMetadata(
  metadata: Readonly<Record<string, unknown>>,
  refuse: (message: string) => never,
): Partial<SecuritySettings> {
  return Object.fromEntries(
    securitySettings.flatMap((name) => {
      const value = metadata[metadataName(name)];
      if (value === undefined || value === null) return [];
      return isOfKind(name, value) ? [[name, value]] : refuse(`${metadataName(name)} is of the wrong type`);
    }),
  );
}

export const securityMetadata = (settings: ApplicationSettings): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    securitySettings.flatMap((name) =>
      settings[name] === undefined ? [] : [[metadataName(name), settings[name]]],
    ),
  );
