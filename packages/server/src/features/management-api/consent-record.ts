/** A consent and a pre-authorization on the wire (wire-contract.md §5), and the body and the client of a grant by an administrator. */
import Type from "typebox";
import type { Application } from "../../core/applications/application.ts";
import { findApplication, lockApplication } from "../../core/applications/applications.store.ts";
import type { Consent } from "../../core/consents/consent.ts";
import { InvalidConsent, PreauthorizationExists } from "../../core/consents/consents.ts";
import { conflict, invalid } from "../../http/api/api-error.ts";
import { strictObject } from "../../http/api/schemas.ts";
import { wireTime, wireTimeOrNull } from "../../http/api/times.ts";
import { type ManagementDeps, unknownReference } from "./management.ts";

const uuid = () => Type.String({ format: "uuid" });
const scopes = () => Type.Array(Type.String(), { description: "Scopes that the client may request" });

export const grantSchema = strictObject({ clientId: uuid(), scopes: scopes() });
export const userGrantSchema = strictObject({
  ...grantSchema.properties,
  userId: Type.String({ format: "uuid", description: "The user's PermId" }),
});

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

/** Enabled or not, and locked so that it can't be deleted before the grant is written. @throws ApiError 404 */
export async function grantedClient(
  { database }: ManagementDeps,
  orgId: string,
  clientId: string,
): Promise<Application> {
  const id = clientId.toLowerCase();
  const isLocked = await lockApplication(database.query, { orgId, id });
  const application = isLocked ? await findApplication(database.query, orgId, id) : undefined;
  if (!application) throw unknownReference("/clientId");
  return application;
}

export function toGrantAnswer(error: unknown): never {
  if (error instanceof InvalidConsent) throw invalid([{ path: "/scopes", message: error.message }]);
  if (error instanceof PreauthorizationExists)
    throw conflict("The client is already pre-authorized for these scopes.");
  throw error;
}
