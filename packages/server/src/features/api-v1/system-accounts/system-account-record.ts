/** A system account and its keys as API v1 shows them, without the secret keys. */
import Type from "typebox";
import type { SystemAccount, SystemAccountKey } from "../../../core/system-accounts/system-account.ts";
import { strictObject, timeOrNull } from "../../../http/api/schemas.ts";
import { wireTime, wireTimeOrNull } from "../../../http/api/times.ts";
import { patchSchema } from "../frame/patch-schema.ts";

const uuid = (description: string) => Type.String({ format: "uuid", description });
const time = () => Type.String({ format: "date-time" });

const fixed = {
  applicationId: uuid("Its own application, which it may always act for; cannot be changed"),
  administrator: Type.Boolean({
    description:
      "Whether it may use the management API and act for every application: such an account is made, changed and ended with `signet:organisation:write` too; cannot be changed",
  }),
};
const settable = {
  name: Type.String({ description: "1 to 100 characters" }),
  requireStrictSignature: Type.Boolean({
    description: "Whether requests without timestamp and nonce are rejected; default: false",
  }),
  allowEndUserAddress: Type.Boolean({
    description:
      "Whether its requests may tell the end user's address in `X-End-User-Address`; default: false",
  }),
  enabled: Type.Boolean({ description: "Whether its requests are accepted; default: true" }),
};

export const newSystemAccount = strictObject(
  {
    name: settable.name,
    applicationId: fixed.applicationId,
    administrator: Type.Optional(fixed.administrator),
    requireStrictSignature: Type.Optional(settable.requireStrictSignature),
    allowEndUserAddress: Type.Optional(settable.allowEndUserAddress),
    enabled: Type.Optional(settable.enabled),
  },
  { title: "ApiNewSystemAccount" },
);

export const systemAccountPatch = patchSchema(settable, { title: "ApiSystemAccountChange" });

export const keySchema = Type.Object(
  {
    id: uuid("The public key"),
    publicKey: uuid("What a request names beside its signature"),
    label: Type.Union([Type.String(), Type.Null()]),
    createdAt: time(),
    expiresAt: timeOrNull,
    revokedAt: timeOrNull,
    lastUsedAt: timeOrNull,
  },
  { title: "ApiSystemAccountKey" },
);

const secretKey = Type.Union([Type.String(), Type.Null()], {
  description: "What requests are signed with; null when the answer is repeated",
});

/** The only answers with the secret key. */
export const createdKey = Type.Object(
  { ...keySchema.properties, secretKey },
  { title: "ApiCreatedSystemAccountKey" },
);

export const systemAccountSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    ...fixed,
    ...settable,
    permissions: Type.Array(Type.String({ format: "uuid" }), {
      description: "Other applications that it may act for",
    }),
    keys: Type.Array(keySchema),
    createdBy: Type.String({ description: "As the audit log names actors" }),
    ...{ createdAt: time(), updatedAt: time() },
    lastUsedAt: timeOrNull,
  },
  { title: "ApiSystemAccount" },
);

export const createdSystemAccount = Type.Object(
  { ...systemAccountSchema.properties, publicKey: uuid("Of its first key"), secretKey },
  { title: "ApiCreatedSystemAccount" },
);

export const keyRecord = ({ publicKey, label, ...key }: SystemAccountKey) => ({
  id: publicKey,
  publicKey,
  label: label === "" ? null : label,
  createdAt: wireTime(key.createdAt),
  expiresAt: wireTimeOrNull(key.expiresAt),
  revokedAt: wireTimeOrNull(key.revokedAt),
  lastUsedAt: wireTimeOrNull(key.lastUsedAt),
});

export type KeyedAccount = SystemAccount & { readonly keys: readonly SystemAccountKey[] };

export const systemAccountRecord = (account: KeyedAccount) => ({
  id: account.id,
  name: account.name,
  applicationId: account.applicationId,
  administrator: account.isAdministrator,
  requireStrictSignature: account.requiresStrictSignature,
  allowEndUserAddress: account.allowsEndUserAddress,
  enabled: account.disabledAt === null,
  permissions: account.permissions,
  keys: account.keys.map(keyRecord),
  createdBy: account.createdBy,
  createdAt: wireTime(account.createdAt),
  updatedAt: wireTime(account.updatedAt),
  lastUsedAt: wireTimeOrNull(account.lastUsedAt),
});
