/** A client secret as API v1 shows it, and the settings of a new one. */
import Type, { type Static } from "typebox";
import type { ClientSecret } from "../../../core/applications/application.ts";
import { isSecretLabel } from "../../../core/applications/client-secrets.ts";
import { invalid } from "../../../http/api/api-error.ts";
import { strictObject, timeOrNull } from "../../../http/api/schemas.ts";
import { readWireTime, wireTime, wireTimeOrNull } from "../../../http/api/times.ts";

export const secretSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    label: Type.Union([Type.String(), Type.Null()]),
    hint: Type.String({ description: "The last four characters of the secret" }),
    createdAt: Type.String({ format: "date-time" }),
    expiresAt: timeOrNull,
    revokedAt: timeOrNull,
    lastUsedAt: timeOrNull,
  },
  { title: "ApiClientSecret" },
);

/** The only answer with the plaintext. */
export const createdSecret = Type.Object(
  { ...secretSchema.properties, clientSecret: Type.Union([Type.String(), Type.Null()]) },
  { title: "ApiCreatedClientSecret" },
);

export const secretRecord = ({ id, label, hint, ...secret }: ClientSecret) => ({
  id,
  label: label === "" ? null : label,
  hint,
  createdAt: wireTime(secret.createdAt),
  expiresAt: wireTimeOrNull(secret.expiresAt),
  revokedAt: wireTimeOrNull(secret.revokedAt),
  lastUsedAt: wireTimeOrNull(secret.lastUsedAt),
});

const YEAR_SECONDS = 31_536_000;

export const rotation = strictObject({
  label: Type.Optional(Type.String({ description: "At most 100 characters" })),
  expiresAt: Type.Optional(Type.String({ format: "date-time", description: "Default: never" })),
  expireOthersInSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: YEAR_SECONDS,
      description: "Expires the existing ones; default: they stay active until revoked",
    }),
  ),
});

/** @returns `expiresAt` in milliseconds, null for never. @throws ApiError 422 */
export function readRotation(
  { label = "", expiresAt, expireOthersInSeconds }: Static<typeof rotation>,
  now: number,
) {
  if (!isSecretLabel(label))
    throw invalid([{ path: "/label", message: "must be at most 100 characters without control characters" }]);
  const others = expireOthersInSeconds === undefined ? {} : { expireOthersInSeconds };
  return { label, expiresAt: readExpiry(expiresAt, now), ...others };
}

function readExpiry(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  const at = readWireTime(text);
  if (at === undefined || at <= now)
    throw invalid([{ path: "/expiresAt", message: "must be an RFC 3339 date-time in the future" }]);
  return at;
}
