/** A consent on the wire (wire-contract.md §5), and the body of a grant by an administrator. */
import Type from "typebox";
import type { Consent } from "../../core/consents/consent.ts";
import { wireTime, wireTimeOrNull } from "../../http/api/times.ts";

const uuid = () => Type.String({ format: "uuid" });
const scopes = () => Type.Array(Type.String(), { description: "Scopes that the client may request" });

export const grantSchema = Type.Object(
  { clientId: uuid(), scopes: scopes() },
  { additionalProperties: false },
);
export const userGrantSchema = Type.Object(
  { ...grantSchema.properties, userId: Type.String({ format: "uuid", description: "The user's PermId" }) },
  { additionalProperties: false },
);

export const consentSchema = Type.Object(
  {
    id: uuid(),
    kind: Type.Enum(["user", "organisation"]),
    clientId: uuid(),
    userId: Type.Optional(uuid()),
    scopes: Type.Array(Type.String()),
    grantedBy: Type.String(),
    grantedAt: Type.String({ format: "date-time" }),
    revokedAt: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
  },
  { title: "Consent" },
);

export const consentRecord = (consent: Consent) => ({
  id: consent.id,
  kind: consent.kind,
  clientId: consent.applicationId,
  ...(consent.userId === null ? {} : { userId: consent.userId }),
  scopes: consent.scopes,
  grantedBy: consent.grantedBy,
  grantedAt: wireTime(consent.grantedAt),
  revokedAt: wireTimeOrNull(consent.revokedAt),
});
