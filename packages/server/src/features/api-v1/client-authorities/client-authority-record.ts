/** A client certificate authority on the wire: in API v1, and by HMAC the same (modern-oauth.md §6). */
import Type from "typebox";
import {
  type ClientAuthority,
  MAX_CERTIFICATE_LENGTH,
} from "../../../core/client-authorities/client-authority.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { wireTime } from "../../../http/api/times.ts";
import { patchSchema } from "../frame/patch-schema.ts";
import { memoryFields } from "../lists/list-fields.ts";

const members = {
  name: Type.String({ minLength: 1, maxLength: 100 }),
  certificate: Type.String({
    ...{ minLength: 1, maxLength: MAX_CERTIFICATE_LENGTH },
    description: "The authority's certificate in PEM: of a root, or of one that another has issued",
  }),
  enabled: Type.Boolean({
    description: "Default: true. While it is false, its certificates authenticate nobody",
  }),
};

export const newClientAuthority = strictObject(
  { name: members.name, certificate: members.certificate, enabled: Type.Optional(members.enabled) },
  { title: "ApiNewClientCertificateAuthority" },
);

export const clientAuthorityPatch = patchSchema(members, { title: "ApiClientCertificateAuthorityChange" });

const time = Type.String({ format: "date-time" });

export const clientAuthoritySchema = Type.Object(
  {
    ...{ id: Type.String({ format: "uuid" }), ...members },
    subject: Type.String({ description: "Of the certificate, for people" }),
    fingerprint: Type.String({ description: "SHA-256 of the certificate, base64url" }),
    notAfter: Type.String({ format: "date-time", description: "When the certificate expires" }),
    ...{ createdAt: time, updatedAt: time },
  },
  { title: "ApiClientCertificateAuthority" },
);

export const clientAuthorityFields = memoryFields({
  ...({ id: "text", name: "text", subject: "text", fingerprint: "text", enabled: "boolean" } as const),
  ...({ notAfter: "time", createdAt: "time", updatedAt: "time" } as const),
});

export const clientAuthorityRecord = (authority: ClientAuthority) => ({
  ...{ id: authority.id, name: authority.name, certificate: authority.certificate },
  ...{ enabled: authority.enabled, subject: authority.subject, fingerprint: authority.fingerprint },
  notAfter: wireTime(authority.notAfter),
  ...{ createdAt: wireTime(authority.createdAt), updatedAt: wireTime(authority.updatedAt) },
});
