/** Connections, their tokens and calls as API v1 shows them. */
import Type from "typebox";
import {
  type Connection,
  type ConnectionToken,
  connectionKinds,
  deletionPolicies,
} from "../../../core/connections/connection.ts";
import type { ConnectionCall } from "../../../core/connections/connection-calls.store.ts";
import { openSecret, secretHint } from "../../../core/connections/sign-in/client-secret.ts";
import { isSignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import type { Encryption } from "../../../core/encryption/encryption.ts";
import { strictObject, timeOrNull } from "../../../http/api/schemas.ts";
import { wireTime, wireTimeOrNull } from "../../../http/api/times.ts";
import { patchSchema } from "../frame/patch-schema.ts";
import { memoryFields } from "../lists/list-fields.ts";
import { askedSignIn, shownSignIn, signInMembers } from "./sign-in-schema.ts";

const kind = Type.Enum([...connectionKinds]);
const name = Type.String({ description: "1 to 100 characters" });
const content = {
  name,
  enabled: Type.Boolean({
    description:
      "Whether a directory's tokens are taken (default: true), or people sign in by it (default: false)",
  }),
  deletionPolicy: Type.Enum([...deletionPolicies], {
    description: "Of `scim`: what a DELETE of a user does to the account; default: `disable`",
  }),
};

export const newConnection = strictObject(
  {
    kind,
    name,
    ...Type.Partial(Type.Object({ enabled: content.enabled, deletionPolicy: content.deletionPolicy }))
      .properties,
    ...askedSignIn,
  },
  { title: "ApiNewConnection" },
);
export const connectionPatch = strictObject(
  { ...patchSchema(content).properties, ...askedSignIn },
  { title: "ApiConnectionChange" },
);

const times = {
  createdAt: Type.String({ format: "date-time" }),
  updatedAt: Type.String({ format: "date-time" }),
};

export const connectionSchema = Type.Object(
  {
    ...{ id: Type.String({ format: "uuid" }), kind, name, enabled: content.enabled },
    deletionPolicy: Type.Optional(content.deletionPolicy),
    scimUrl: Type.Optional(
      Type.String({ format: "uri", description: "Of `scim`: what the directory is given as its address" }),
    ),
    ...shownSignIn,
    ...times,
  },
  { title: "ApiConnection" },
);

export const connectionFields = memoryFields({
  ...({ id: "text", kind: "text", name: "text", enabled: "boolean", deletionPolicy: "text" } as const),
  ...({ createdAt: "time", updatedAt: "time" } as const),
});

/** @param deps.encryption opens the client secret, of which the hint is made */
export function connectionRecord(
  { baseUrl, encryption }: { readonly baseUrl: string; readonly encryption: Encryption },
  connection: Connection,
) {
  const { id, kind, name, enabled, deletionPolicy, orgId } = connection;
  const times = {
    createdAt: wireTime(connection.createdAt),
    updatedAt: wireTime(connection.updatedAt),
  };
  if (!isSignInConnection(connection)) {
    const scimUrl = `${baseUrl}/scim/v2/${orgId}/${id}`;
    return { ...{ id, kind, name, enabled }, deletionPolicy, scimUrl, ...times };
  }
  const secret = connection.kind === "saml" ? undefined : openSecret(encryption, connection);
  const hint = secret === undefined ? null : secretHint(secret);
  return { ...{ id, kind, name, enabled }, ...signInMembers(baseUrl, connection, hint), ...times };
}

export const newToken = strictObject(
  {
    label: Type.Optional(Type.String({ maxLength: 100 })),
    expiresAt: Type.Optional(
      Type.Union([Type.String({ format: "date-time", description: "Default: never" }), Type.Null()]),
    ),
  },
  { title: "ApiNewConnectionToken" },
);

const tokenMembers = {
  ...{
    id: Type.String({ format: "uuid" }),
    label: Type.String(),
    expiresAt: timeOrNull,
    lastUsedAt: timeOrNull,
  },
  createdAt: times.createdAt,
};

export const tokenSchema = Type.Object(tokenMembers, { title: "ApiConnectionToken" });
export const createdTokenSchema = Type.Object(
  { ...tokenMembers, token: Type.String({ description: "Shown once", examples: ["sgn_st_…"] }) },
  { title: "ApiCreatedConnectionToken" },
);

export const tokenFields = memoryFields({
  ...({ id: "text", label: "text", expiresAt: "time", lastUsedAt: "time", createdAt: "time" } as const),
});

export const tokenRecord = ({ id, label, createdAt, expiresAt, lastUsedAt }: ConnectionToken) => ({
  ...{ id, label, expiresAt: wireTimeOrNull(expiresAt), lastUsedAt: wireTimeOrNull(lastUsedAt) },
  createdAt: wireTime(createdAt),
});

export const callSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    at: times.createdAt,
    method: Type.String(),
    path: Type.String({ description: "Below the connection's address, without the query" }),
    status: Type.Integer(),
    scimType: Type.Union([Type.String(), Type.Null()]),
  },
  { title: "ApiConnectionCall" },
);

export const callFields = memoryFields({
  ...({ at: "time", method: "text", path: "text", status: "number", scimType: "text" } as const),
});

export const callRecord = ({ id, at, method, path, status, scimType }: ConnectionCall) => ({
  ...{ id, at: wireTime(at), method, path, status, scimType },
});
