/** Output of applications, with their client secrets as in the management API. */
import {
  type Application,
  type ClientSecret,
  isAttestationMethod,
} from "../../core/applications/application.ts";
import { isActive } from "../../core/applications/client-secrets.ts";
import { secretRecord } from "../../features/management-api/clients/client-secret-record.ts";
import { enabledStatus, fields, formatTime, formatTimeOrNull, table, timeOrNever } from "../output.ts";

export const appRecord = (application: Application) => ({
  clientId: application.id,
  name: application.name,
  clientType: application.clientType,
  ...application.settings,
  secrets: application.secrets.map(secretRecord),
  createdAt: formatTime(application.createdAt),
  updatedAt: formatTime(application.updatedAt),
  disabledAt: formatTimeOrNull(application.disabledAt),
});

export function appFields(application: Application): string[] {
  const { settings } = application;
  const shown = Object.entries(settings).map(([name, value]) => [name, formatSetting(value)]);
  return fields({
    clientId: application.id,
    name: application.name,
    clientType: application.clientType,
    status: enabledStatus(application),
    createdAt: formatTime(application.createdAt),
    updatedAt: formatTime(application.updatedAt),
    ...(Object.fromEntries(shown) as Record<string, string>),
  });
}

function formatSetting(value: string | number | boolean | object): string {
  if (Array.isArray(value)) return value.length === 0 ? "(none)" : value.join(" ");
  if (typeof value === "object") return JSON.stringify(value);
  return typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
}

/** @param now milliseconds */
export function secretTable({ clientType, secrets, settings }: Application, now: number): string[] {
  if (clientType !== "confidential") return ["Public clients have no client secret."];
  if (settings.tokenEndpointAuthMethod === "private_key_jwt")
    return ["The application authenticates with private_key_jwt and has no client secret."];
  if (settings.tokenEndpointAuthMethod === "tls_client_auth")
    return ["The application authenticates with device certificates and has no client secret."];
  if (isAttestationMethod(settings.tokenEndpointAuthMethod))
    return ["The application authenticates by attestations of devices and has no client secret."];
  if (settings.tokenEndpointAuthMethod === "self_signed_tls_client_auth")
    return ["The application authenticates with the certificates of its JWK Set and has no client secret."];
  if (secrets.length === 0) return ["No client secrets yet: signet secret create --org … --app …"];
  return table(
    ["SECRET ID", "LABEL", "ENDS IN", "STATUS", "EXPIRES", "LAST USED"],
    secrets.map((secret) => [
      secret.id,
      secret.label,
      secret.hint,
      secretStatus(secret, now),
      timeOrNever(secret.expiresAt),
      timeOrNever(secret.lastUsedAt),
    ]),
  );
}

function secretStatus(secret: ClientSecret, now: number): string {
  if (isActive(secret, now)) return "active";
  return secret.revokedAt === null ? "expired" : "revoked";
}
