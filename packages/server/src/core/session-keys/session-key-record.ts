/** Session keys in API responses (wire-contract.md §4). */
import Type from "typebox";
import { userRecord, userSchema } from "../users/user-record.ts";
import { type SessionKey, sessionKeyKinds } from "./session-key.ts";
import type { ValidSessionKey } from "./session-keys.ts";

export const sessionKeyKindSchema = Type.Union(sessionKeyKinds.map((kind) => Type.Literal(kind)));

export const expiresAtSchema = Type.Union([Type.String({ format: "date-time" }), Type.Null()], {
  description: "null for a key that is valid until it is revoked",
});

export const validKeySchema = Type.Object(
  {
    Valid: Type.Literal(true),
    Kind: sessionKeyKindSchema,
    ApplicationId: Type.String({ format: "uuid" }),
    ExpiresAt: expiresAtSchema,
    User: userSchema,
  },
  { title: "ValidSessionKey" },
);

export const validKeyRecord = ({ key, user }: Pick<ValidSessionKey, "key" | "user">) => ({
  Valid: true,
  Kind: key.kind,
  ApplicationId: key.applicationId,
  ExpiresAt: formatExpiry(key),
  User: userRecord(user),
});

export const formatExpiry = ({ expiresAt }: Pick<SessionKey, "expiresAt">): string | null =>
  expiresAt === null ? null : new Date(expiresAt).toISOString();
