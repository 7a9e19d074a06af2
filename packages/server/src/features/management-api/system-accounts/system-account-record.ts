/** A system account and its keys on the wire, without the secret keys. */
import Type from "typebox";
import type { SystemAccount, SystemAccountKey } from "../../../core/system-accounts/system-account.ts";
import { strictObject, timeOrNull } from "../../../http/api/schemas.ts";
import { wireTime, wireTimeOrNull } from "../../../http/api/times.ts";

export const systemAccountKeySchema = Type.Object(
  {
    publicKey: Type.String({ format: "uuid" }),
    label: Type.String(),
    createdAt: Type.String({ format: "date-time" }),
    expiresAt: timeOrNull,
    revokedAt: timeOrNull,
    lastUsedAt: timeOrNull,
  },
  { title: "SystemAccountKey" },
);

const members = {
  name: Type.String({ description: "1 to 100 characters" }),
  applicationId: Type.String({
    format: "uuid",
    description: "The `clientId` of its own application, which it may always act for; cannot be changed",
  }),
  administrator: Type.Boolean({
    description: "Whether it may use the management API and act for every application; cannot be changed",
  }),
  requireStrictSignature: Type.Boolean({
    description: "Whether requests without timestamp and nonce are rejected",
  }),
  allowEndUserAddress: Type.Boolean({
    description:
      "Whether its requests may tell the end user's address in `X-End-User-Address`; left out of a change, it stays",
  }),
  enabled: Type.Boolean({ description: "Whether its requests are accepted" }),
};

export const newSystemAccountSchema = strictObject(
  {
    name: members.name,
    applicationId: members.applicationId,
    administrator: Type.Optional(members.administrator),
    requireStrictSignature: Type.Optional(members.requireStrictSignature),
    allowEndUserAddress: Type.Optional(members.allowEndUserAddress),
  },
  { title: "NewSystemAccount" },
);

/** A full replacement without defaults: renaming must neither enable an account nor allow the plain signature. */
export const changedSystemAccountSchema = strictObject(
  {
    ...members,
    ...Type.Partial(
      Type.Pick(Type.Object(members), ["applicationId", "administrator", "allowEndUserAddress"]),
    ).properties,
  },
  { title: "ChangedSystemAccount" },
);

/** Ignored in request bodies. */
export const readOnlyMembers = [
  "id",
  "permissions",
  "keys",
  "createdAt",
  "createdBy",
  "updatedAt",
  "lastUsedAt",
  "publicKey",
  "secretKey",
] as const;

export const systemAccountSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    ...members,
    permissions: Type.Array(Type.String({ format: "uuid" }), {
      description: "Other applications that it may act for",
    }),
    keys: Type.Array(systemAccountKeySchema),
    createdAt: Type.String({ format: "date-time" }),
    createdBy: Type.String(),
    updatedAt: Type.String({ format: "date-time" }),
    lastUsedAt: timeOrNull,
  },
  { title: "SystemAccount" },
);

const secretKey = Type.Union([Type.String(), Type.Null()]);

export const createdSystemAccountSchema = Type.Object(
  { ...systemAccountSchema.properties, publicKey: Type.String({ format: "uuid" }), secretKey },
  { title: "CreatedSystemAccount" },
);

export const createdSystemAccountKeySchema = Type.Object(
  { id: Type.String({ format: "uuid" }), ...systemAccountKeySchema.properties, secretKey },
  { title: "CreatedSystemAccountKey" },
);

export const systemAccountKeyRecord = (key: SystemAccountKey) => ({
  publicKey: key.publicKey,
  label: key.label,
  createdAt: wireTime(key.createdAt),
  expiresAt: wireTimeOrNull(key.expiresAt),
  revokedAt: wireTimeOrNull(key.revokedAt),
  lastUsedAt: wireTimeOrNull(key.lastUsedAt),
});

export type KeyedSystemAccount = SystemAccount & { readonly keys: readonly SystemAccountKey[] };

export const systemAccountRecord = (account: KeyedSystemAccount) => ({
  id: account.id,
  name: account.name,
  applicationId: account.applicationId,
  administrator: account.isAdministrator,
  requireStrictSignature: account.requiresStrictSignature,
  allowEndUserAddress: account.allowsEndUserAddress,
  enabled: account.disabledAt === null,
  permissions: account.permissions,
  keys: account.keys.map(systemAccountKeyRecord),
  createdAt: wireTime(account.createdAt),
  createdBy: account.createdBy,
  updatedAt: wireTime(account.updatedAt),
  lastUsedAt: wireTimeOrNull(account.lastUsedAt),
});
