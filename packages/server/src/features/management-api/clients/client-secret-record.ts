/** A client secret on the wire (wire-contract.md §5), without its plaintext. */
import Type from "typebox";
import type { ClientSecret } from "../../../core/applications/application.ts";
import { wireTime, wireTimeOrNull } from "../../../http/api/times.ts";

const timeOrNull = Type.Union([Type.String({ format: "date-time" }), Type.Null()]);

export const secretSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    label: Type.String(),
    hint: Type.String({ description: "The last four characters of the secret" }),
    createdAt: Type.String({ format: "date-time" }),
    expiresAt: timeOrNull,
    revokedAt: timeOrNull,
    lastUsedAt: timeOrNull,
  },
  { title: "ClientSecret" },
);

/** The only response with the plaintext. */
export const createdSecretSchema = Type.Object(
  {
    clientId: Type.String({ format: "uuid" }),
    ...secretSchema.properties,
    clientSecret: Type.Union([Type.String(), Type.Null()]),
  },
  { title: "CreatedClientSecret" },
);

export const secretRecord = (secret: ClientSecret) => ({
  id: secret.id,
  label: secret.label,
  hint: secret.hint,
  createdAt: wireTime(secret.createdAt),
  expiresAt: wireTimeOrNull(secret.expiresAt),
  revokedAt: wireTimeOrNull(secret.revokedAt),
  lastUsedAt: wireTimeOrNull(secret.lastUsedAt),
});
