/** Path, query and header parameters of an operation. */
import { imageKinds } from "../../core/organisations/image-kinds.ts";
import type { DescribedOperation } from "../../http/api/described-operation.ts";
import type { JsonSchema, OpenApiParameter } from "./openapi.ts";

const uuid: JsonSchema = { type: "string", format: "uuid" };
const text: JsonSchema = { type: "string" };

/** Every path parameter needs an entry: building the document fails without one. */
const pathParameterInfo: Readonly<
  Record<string, { readonly description: string; readonly schema: JsonSchema }>
> = {
  org: { description: "the organisation", schema: uuid },
  publicId: { description: "the organisation", schema: uuid },
  clientId: { description: "the OAuth client id of the application", schema: uuid },
  appId: { description: "the application", schema: uuid },
  applicationId: { description: "the application's `clientId`", schema: uuid },
  keyId: { description: "the public key", schema: uuid },
  permId: { description: "the user's PermId", schema: uuid },
  userId: { description: "the user's PermId", schema: uuid },
  poolId: { description: "the signing pool", schema: uuid },
  agentId: { description: "the signing agent", schema: uuid },
  secretId: { description: "the client secret", schema: uuid },
  sessionId: { description: "the session, as the `sid` of tokens", schema: uuid },
  groupId: { description: "the group", schema: uuid },
  memberId: { description: "the user's PermId, or the group", schema: uuid },
  connectionId: { description: "the connection", schema: uuid },
  tokenId: { description: "the token of the connection", schema: uuid },
  deliveryId: { description: "the delivery, by its event", schema: uuid },
  streamId: { description: "the stream of security events", schema: uuid },
  testId: { description: "the test of the connection", schema: uuid },
  kid: { description: "the key's RFC 7638 thumbprint", schema: text },
  requestId: { description: "the signing request", schema: { type: "string" } },
  rest: { description: "the rest of the path", schema: text },
  id: { description: "the record id, or the token from an email link", schema: text },
  key: { description: "the session key, or the token from a registration link", schema: text },
  generation: { description: "Number of the generation, from 1", schema: text },
  fingerprint: { description: "SHA-256 of the certificate or key, base64url", schema: text },
  kind: {
    description: "`logo`, `darkLogo`, `favicon` or `panel`",
    schema: { type: "string", enum: [...imageKinds] },
  },
  type: { description: "the type of action", schema: text },
  email: { description: "the user's email address", schema: text },
  username: { description: "the username to check", schema: text },
  everywhere: { description: "`true` or `everywhere` ends all sessions of the user", schema: text },
  extendSetting: { description: "any value: include the user's settings for the application", schema: text },
};

/** Fastify's path as OpenAPI paths: `/a/:b?` becomes `/a` and `/a/{b}`, `/a/*` becomes `/a/{rest}`. */
export function openApiPaths(path: string): string[] {
  const full = path.replaceAll(/:(\w+)\??/g, "{$1}").replace(/\*$/, "{rest}");
  return path.endsWith("?") ? [full.slice(0, full.lastIndexOf("/")), full] : [full];
}

export function pathParameters(path: string): OpenApiParameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => {
    const known = pathParameterInfo[name];
    if (!known) throw new Error(`the path parameter ${name} of ${path} has no description`);
    return { name, in: "path", required: true, ...known };
  });
}

export function queryParameters({ query }: DescribedOperation): OpenApiParameter[] {
  const { properties = {}, required = [] } = JSON.parse(JSON.stringify(query ?? {})) as JsonSchema;
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: required.includes(name),
    // It counts as absent.
    ...(required.includes(name) ? {} : { allowEmptyValue: true }),
    ...(description === undefined ? {} : { description }),
    schema,
  }));
}

export function headerParameters({ headers = {} }: DescribedOperation): OpenApiParameter[] {
  return Object.entries(headers).map(([name, description]) => ({
    name,
    in: "header",
    required: false,
    description,
    schema: headerSchemas[name] ?? text,
  }));
}

const headerSchemas: Readonly<Record<string, JsonSchema>> = {
  "Idempotency-Key": { type: "string", pattern: "^[!-~]{1,255}$" },
};
