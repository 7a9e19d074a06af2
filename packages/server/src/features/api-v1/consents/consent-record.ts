/** Consents and pre-authorizations as API v1 shows them, and the body of a grant. */
import Type from "typebox";
import type { Application } from "../../../core/applications/application.ts";
import { findApplication, lockApplication } from "../../../core/applications/applications.store.ts";
import type { Consent } from "../../../core/consents/consent.ts";
import { InvalidConsent, PreauthorizationExists } from "../../../core/consents/consents.ts";
import { conflict, invalid } from "../../../http/api/api-error.ts";
import { strictObject, timeOrNull } from "../../../http/api/schemas.ts";
import { wireTime, wireTimeOrNull } from "../../../http/api/times.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { unknownReference } from "../frame/member-faults.ts";

const uuid = () => Type.String({ format: "uuid" });
const time = () => Type.String({ format: "date-time" });

export const grantSchema = strictObject(
  {
    clientId: uuid(),
    scopes: Type.Array(Type.String(), { description: "Scopes that the application may request" }),
  },
  { title: "ApiGrant" },
);
export const consentGrant = strictObject(
  {
    ...grantSchema.properties,
    kind: Type.Optional(
      Type.Enum(["user", "organisation"], { description: "Must agree with `userId`; default: as it says" }),
    ),
    userId: Type.Optional(Type.String({ format: "uuid", description: "Default: all users" })),
  },
  { title: "ApiConsentGrant" },
);

export const consentSchema = Type.Object(
  {
    id: uuid(),
    kind: Type.Enum(["user", "organisation"]),
    clientId: uuid(),
    userId: Type.Union([uuid(), Type.Null()]),
    scopes: Type.Array(Type.String()),
    grantedBy: Type.String(),
    grantedAt: time(),
    revokedAt: timeOrNull,
    createdAt: time(),
    updatedAt: time(),
  },
  { title: "ApiConsent" },
);

export const consentRecord = (consent: Consent) => ({
  id: consent.id,
  kind: consent.kind,
  clientId: consent.applicationId,
  userId: consent.userId,
  scopes: consent.scopes,
  grantedBy: consent.grantedBy,
  grantedAt: wireTime(consent.grantedAt),
  revokedAt: wireTimeOrNull(consent.revokedAt),
  createdAt: wireTime(consent.createdAt),
  updatedAt: wireTime(consent.revokedAt ?? consent.grantedAt),
});

export const preauthorizationSchema = Type.Object(
  {
    id: uuid(),
    clientId: uuid(),
    scopes: Type.Array(Type.String()),
    createdBy: Type.String(),
    createdAt: time(),
    updatedAt: time(),
  },
  { title: "ApiPreauthorization" },
);

export const preauthorizationRecord = (record: Consent) => ({
  id: record.id,
  clientId: record.applicationId,
  scopes: record.scopes,
  createdBy: record.grantedBy,
  createdAt: wireTime(record.grantedAt),
  updatedAt: wireTime(record.grantedAt),
});

/** Locked, so that it can't be deleted before the grant is written. @throws ApiError 422 */
export async function grantedApplication(
  { database: { query } }: ApiDeps,
  orgId: string,
  clientId: string,
): Promise<Application> {
  const id = clientId.toLowerCase();
  const isLocked = await lockApplication(query, { orgId, id });
  const application = isLocked ? await findApplication(query, orgId, id) : undefined;
  if (!application) throw unknownReference("/clientId");
  return application;
}

export function toGrantAnswer(error: unknown): never {
  if (error instanceof InvalidConsent) throw invalid([{ path: "/scopes", message: error.message }]);
  if (error instanceof PreauthorizationExists)
    throw conflict("The application is already pre-authorized for these scopes.");
  throw error;
}
