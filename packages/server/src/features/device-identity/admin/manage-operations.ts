/** Device administration as programs use it: what goes in, what comes out. */
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
import { MANAGE } from "./manage-visit.ts";

const shared = { tag: "Device identity", credential: "administrator", errorForm: "oauth" } as const;
const closed = { additionalProperties: false } as const;
const inBrowsers = "A page of ours may send the same JSON with its token in `X-CSRF-Token`.";
const id = Type.String({ format: "uuid" });
const moment = Type.String({ format: "date-time" });
const orNull = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

const device = Type.Object(
  {
    id,
    name: Type.String({ examples: ["Build agent 7"] }),
    state: Type.Enum([...deviceStates], { description: "`expired`: its last certificate is over" }),
    attestation: Type.Enum([...attestations], { description: "whether a TPM vouched for its key" }),
    enrolledAt: moment,
    lastSeenAt: orNull(moment),
    certificate: orNull(Type.Object({ serial: Type.String({ examples: ["0b5f…"] }), notAfter: moment })),
    revokedAt: orNull(moment),
    revokedReason: orNull(Type.Enum([...revocationReasons])),
  },
  { title: "Device" },
);

const timeOf = (milliseconds: number | null) =>
  milliseconds === null ? null : new Date(milliseconds).toISOString();

export const deviceRecord = (listed: ListedDevice) => ({
  id: listed.id,
  name: listed.name,
  state: listed.state,
  attestation: listed.attestation,
  enrolledAt: timeOf(listed.enrolledAt),
  lastSeenAt: timeOf(listed.lastSeenAt),
  certificate: listed.certificate && {
    serial: listed.certificate.serial,
    notAfter: timeOf(listed.certificate.notAfter),
  },
  revokedAt: timeOf(listed.revokedAt),
  revokedReason: listed.revokedReason,
});

export const listOperation = {
  ...shared,
  method: "GET",
  path: MANAGE,
  operationId: "listDevices",
  summary: "The organisation's devices, newest first",
  description: "Browsers get a page here.",
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
  path: `${MANAGE}/register`,
  operationId: "registerDevice",
  summary: "Make an enrollment code, shown once",
  description: `A device enrols with it, once. ${inBrowsers}`,
  body: Type.Object(
    {
      name: Type.Optional(Type.String({ maxLength: 200, description: "1 to 100 characters; else its id" })),
      attestation: Type.Optional(
        Type.Enum([...attestationPolicies], { description: "can only tighten the organisation's policy" }),
      ),
      expiresIn: Type.Optional(Type.Integer({ description: "seconds: 600 to 604800; 86400 when left out" })),
      replaces: Type.Optional(
        Type.String({ maxLength: 36, description: "a device that is revoked when this one is enrolled" }),
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
  path: `${MANAGE}/:id/revoke`,
  operationId: "revokeDevice",
  summary: "Revoke a device at once, again and again if need be",
  description: `Its certificate and the tokens bound to it are worth nothing from then on. ${inBrowsers}`,
  isStrictOnly: true,
  body: Type.Object(
    {
      reason: Type.Optional(
        Type.Enum([...revocationReasons], { description: "`unspecified` when left out" }),
      ),
    },
    { title: "DeviceRevocation", ...closed },
  ),
  bodyOptional: true,
  example: { reason: "keyCompromise" },
  errors: [409, 422],
  answers: { 204: { description: "It is revoked" } },
} as const satisfies Operation;

export const withdrawOperation = {
  ...shared,
  method: "POST",
  path: `${MANAGE}/codes/:id/withdraw`,
  operationId: "withdrawEnrollmentCode",
  summary: "Withdraw a code that nobody has used yet",
  description: inBrowsers,
  isStrictOnly: true,
  errors: [409, 422],
  answers: { 204: { description: "It enrols nothing any more" } },
} as const satisfies Operation;

const policyMembers = {
  attestation: Type.Enum([...attestationPolicies]),
  ekTrust: Type.Enum([...ekTrustModes], {
    description: "what makes a TPM believed: its maker's certificate, the list of keys, or both",
  }),
};
const policy = Type.Object(policyMembers, { title: "DevicePolicy" });

export const readPolicyOperation = {
  ...shared,
  method: "GET",
  path: `${MANAGE}/policy`,
  operationId: "getDevicePolicy",
  summary: "What devices show before they get a certificate",
  description: "Browsers get a page here.",
  answers: { 200: { description: "The policy", schema: policy } },
} as const satisfies Operation;

export const writePolicyOperation = {
  ...shared,
  method: "POST",
  path: `${MANAGE}/policy`,
  operationId: "setDevicePolicy",
  summary: "Change it for what is enrolled from then on",
  description: inBrowsers,
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
  answers: { 200: { description: "The policy as it is now", schema: policy } },
} as const satisfies Operation;
