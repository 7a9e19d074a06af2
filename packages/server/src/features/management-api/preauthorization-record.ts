/** A pre-authorization on the wire (wire-contract.md §5). */
import Type from "typebox";
import type { Consent } from "../../core/consents/consent.ts";
import { wireTime } from "../../http/api/times.ts";

export const preauthorizationSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    clientId: Type.String({ format: "uuid" }),
    scopes: Type.Array(Type.String()),
    createdBy: Type.String(),
    createdAt: Type.String({ format: "date-time" }),
  },
  { title: "Preauthorization" },
);

export const preauthorizationRecord = (record: Consent) => ({
  id: record.id,
  clientId: record.applicationId,
  scopes: record.scopes,
  createdBy: record.grantedBy,
  createdAt: wireTime(record.grantedAt),
});
