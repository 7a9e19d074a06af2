/** The device administration API in /openapi.json: requests and responses. */
import Type from "typebox";
import {
  attestationPolicies,
  attestations,
  ekTrustModes,
  revocationReasons,
} from "../../../core/devices/device.ts";
import type { Operation } from "../../../http/api/api-route.ts";
import { pageQuery, pageSchema } from "../../../http/api/paging.ts";
import { deviceStates, type ListedDevice } from "./device-list.store.ts";

const shared = { tag: "Device identity", credential: "administrator", errorForm: "oauth" } as const;
const closed = { additionalProperties: false } as const;
const inBrowsers = "Our pages may send the same JSON with `X-CSRF-Token`.";
const id = Type.String({ format: "uuid" });
const moment = Type.String({ format: "date-time" });
const orNull = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

const device = Type.Object(
  {
    id,
    name: Type.String({ examples: ["Build agent 7"] }),
    state: Type.Enum([...deviceStates], { description: "`expired`: the last certificate has expired" }),
    attestation: Type.Enum([...attestations], { description: "whether a TPM attested the key" }),
    enrolledAt: moment,
    lastSeenAt: orNull(moment),
    certificate: orNull(Type.Object({ serial: Type.String({ examples: ["0b5f…"] }), notAfter: moment })),
    revokedAt: orNull(moment),
    revokedReason: orNull(Type.Enum([...revocationReasons])),
  },
  { title: "Device" },
);

const toIsoTime = (milliseconds: number | null) =>
  milliseconds === null ? null : new Date(milliseconds).toISOString();

export const deviceRecord = (listed: ListedDevice) => ({
  id: listed.id,
  name: listed.name,
  state: listed.state,
  attestation: listed.attestation,
  enrolledAt: toIsoTime(listed.enrolledAt),
  lastSeenAt: toIsoTime(listed.lastSeenAt),
  certificate: listed.certificate && {
    serial: listed.certificate.serial,
    notAfter: toIsoTime(listed.certificate.notAfter),
  },
  revokedAt: toIsoTime(listed.revokedAt),
  revokedReason: listed.revokedReason,
});

export const listOperation = {
  ...shared,
  method: "GET",
  path: "/devices/manage/:org",
  operationId: "listDevices",
  summary: "List devices",
  description: "Newest first. Browsers get a page at this address.",
  query: Type.Object(
    {
      ...pageQuery,
      search: Type.Optional(Type.String({ maxLength: 100, description: "part of a name or an id" })),
      state: Type.Optional(Type.Enum([...deviceStates])),
    },
    closed,
  ),
  answers: { 200: { description: "A page of devices", schema: pageSchema(device) } },
} as const satisfies Operation;

export const registerOperation = {
  ...shared,
  method: "POST",
  path: "/devices/manage/:org/register",
  operationId: "registerDevice",
  summary: "Create an enrolment code",
  description: `The code is returned once and enrols one device. ${inBrowsers}`,
  body: Type.Object(
    {
      name: Type.Optional(
        Type.String({ maxLength: 200, description: "1 to 100 characters; default: the device's id" }),
      ),
      attestation: Type.Optional(
        Type.Enum([...attestationPolicies], {
          description: "can only be stricter than the organisation's policy",
        }),
      ),
      expiresIn: Type.Optional(Type.Integer({ description: "seconds: 600 to 604800; default: 86400" })),
      replaces: Type.Optional(
        Type.String({ maxLength: 36, description: "a device to revoke when this one is enrolled" }),
      ),
    },
    { title: "NewDevice", ...closed },
  ),
  bodyOptional: false,
  example: { name: "Build agent 7", attestation: "required", expiresIn: 3600 },
  errors: [409, 422],
  answers: {
    201: {
      description: "The code",
      schema: Type.Object(
        {
          id,
          code: orNull(Type.String({ examples: ["7K4QD-…"] })),
          expiresAt: moment,
        },
        { title: "EnrollmentCode" },
      ),
    },
  },
} as const satisfies Operation;

export const revokeOperation = {
  ...shared,
  method: "POST",
  path: "/devices/manage/:org/:id/revoke",
  operationId: "revokeDevice",
  summary: "Revoke a device",
  description: `Idempotent. The device's certificates and the tokens bound to them stop working immediately. ${inBrowsers}`,
  isStrictOnly: true,
  body: Type.Object(
    {
      reason: Type.Optional(Type.Enum([...revocationReasons], { description: "default: `unspecified`" })),
    },
    { title: "DeviceRevocation", ...closed },
  ),
  bodyOptional: true,
  example: { reason: "keyCompromise" },
  errors: [409, 422],
  answers: { 204: { description: "The device is revoked" } },
} as const satisfies Operation;

export const withdrawOperation = {
  ...shared,
  method: "POST",
  path: "/devices/manage/:org/codes/:id/withdraw",
  operationId: "withdrawEnrollmentCode",
  summary: "Withdraw an unused enrolment code",
  description: inBrowsers,
  isStrictOnly: true,
  errors: [409, 422],
  answers: { 204: { description: "The code is withdrawn" } },
} as const satisfies Operation;

const policyMembers = {
  attestation: Type.Enum([...attestationPolicies]),
  ekTrust: Type.Enum([...ekTrustModes], {
    description: "how TPMs are trusted: by the vendor's certificate chain, the allow list, or both",
  }),
};
const policy = Type.Object(policyMembers, { title: "DevicePolicy" });

export const readPolicyOperation = {
  ...shared,
  method: "GET",
  path: "/devices/manage/:org/policy",
  operationId: "getDevicePolicy",
  summary: "Get the attestation policy",
  description: "Browsers get a page at this address.",
  answers: { 200: { description: "The policy", schema: policy } },
} as const satisfies Operation;

export const writePolicyOperation = {
  ...shared,
  method: "POST",
  path: "/devices/manage/:org/policy",
  operationId: "setDevicePolicy",
  summary: "Change the attestation policy",
  description: `Applies to later enrolments. ${inBrowsers}`,
  isStrictOnly: true,
  body: Type.Object(
    {
      attestation: Type.Optional(policyMembers.attestation),
      ekTrust: Type.Optional(policyMembers.ekTrust),
    },
    { title: "DevicePolicyChange", ...closed },
  ),
  bodyOptional: false,
  example: { attestation: "required", ekTrust: "chain" },
  errors: [409, 422],
  answers: { 200: { description: "The new policy", schema: policy } },
} as const satisfies Operation;
