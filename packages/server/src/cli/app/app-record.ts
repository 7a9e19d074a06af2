/** An application as operators see it; never a secret's hash. */
import type { Application, ClientSecret } from "../../core/applications/application.ts";
import { isActive } from "../../core/applications/client-secrets.ts";
import { fields, stateOf, table, time, timeOrNull } from "../answer.ts";

export const secretRecord = (secret: ClientSecret) => ({
  id: secret.id,
  label: secret.label,
  hint: secret.hint,
  createdAt: time(secret.createdAt),
  expiresAt: timeOrNull(secret.expiresAt),
  revokedAt: timeOrNull(secret.revokedAt),
  lastUsedAt: timeOrNull(secret.lastUsedAt),
});

export const appRecord = (application: Application) => ({
  clientId: application.id,
  name: application.name,
  clientType: application.clientType,
  ...application.settings,
  secrets: application.secrets.map(secretRecord),
  createdAt: time(application.createdAt),
  updatedAt: time(application.updatedAt),
  disabledAt: timeOrNull(application.disabledAt),
});

export function appFields(application: Application): string[] {
  const { settings } = application;
  const shown = Object.entries(settings).map(([name, value]) => [name, shownValue(value)]);
  return fields({
    clientId: application.id,
    name: application.name,
    clientType: application.clientType,
    state: stateOf(application.disabledAt),
    createdAt: time(application.createdAt),
    updatedAt: time(application.updatedAt),
    ...(Object.fromEntries(shown) as Record<string, string>),
  });
}

function shownValue(value: string | number | boolean | object): string {
  if (Array.isArray(value)) return value.length === 0 ? "(none)" : value.join(" ");
  if (typeof value === "object") return JSON.stringify(value);
  return typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
}

/** @param now milliseconds */
export function secretTable({ clientType, secrets, settings }: Application, now: number): string[] {
  if (clientType !== "confidential") return ["A public client has no secrets."];
  if (settings.tokenEndpointAuthMethod === "private_key_jwt")
    return ["It signs with its own key, and has no secrets."];
  if (settings.tokenEndpointAuthMethod === "tls_client_auth")
    return ["Devices speak for it by their certificates, and it has no secrets."];
  if (secrets.length === 0) return ["It has no secret yet: signet secret create --org … --app …"];
  return table(
    ["SECRET ID", "LABEL", "ENDS IN", "STATE", "EXPIRES", "LAST USED"],
    secrets.map((secret) => [
      secret.id,
      secret.label,
      secret.hint,
      secretState(secret, now),
      timeOrNull(secret.expiresAt) ?? "never",
      timeOrNull(secret.lastUsedAt) ?? "never",
    ]),
  );
}

function secretState(secret: ClientSecret, now: number): string {
  if (isActive(secret, now)) return "active";
  return secret.revokedAt === null ? "expired" : "revoked";
}
