/** The parameters of an operation's address and headers. */
import type { DescribedOperation } from "../../http/api/described-operation.ts";
import type { JsonSchema, OpenApiParameter } from "./openapi.ts";

const uuid: JsonSchema = { type: "string", format: "uuid" };
const text: JsonSchema = { type: "string" };

/** What stands in paths. A path with another name is refused when the document is made. */
const inPaths: Readonly<Record<string, { readonly description: string; readonly schema: JsonSchema }>> = {
  org: { description: "the organisation", schema: uuid },
  publicId: { description: "the organisation", schema: uuid },
  clientId: { description: "the OAuth client: its application", schema: uuid },
  appId: { description: "the application", schema: uuid },
  applicationId: { description: "the application: its `clientId`", schema: uuid },
  keyId: { description: "the public key of the pair", schema: uuid },
  permId: { description: "the user's PermId", schema: uuid },
  userId: { description: "the user's PermId", schema: uuid },
  poolId: { description: "the signing pool", schema: uuid },
  agentId: { description: "the signing agent", schema: uuid },
  requestId: { description: "the signing request", schema: { type: "string" } },
  rest: { description: "all that follows", schema: text },
  id: { description: "the record; of an action, what its link holds", schema: text },
  key: { description: "the session key, or of a registration what its link holds", schema: text },
  type: { description: "the kind of action", schema: text },
  email: { description: "the address of the user", schema: text },
  username: { description: "the name that is asked about", schema: text },
  everywhere: { description: "`true` or `everywhere`: every session of the user", schema: text },
  extendSetting: { description: "anything: the application's settings of the user too", schema: text },
};

/** `/a/:b/:c?` as OpenAPI writes it: with and without what may be left out; `/a/*` is `/a/{rest}`. */
export function openApiPaths(path: string): string[] {
  const full = path.replaceAll(/:(\w+)\??/g, "{$1}").replace(/\*$/, "{rest}");
  return path.endsWith("?") ? [full.slice(0, full.lastIndexOf("/")), full] : [full];
}

export function pathParameters(path: string): OpenApiParameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => {
    const known = inPaths[name];
    if (!known) throw new Error(`the path parameter ${name} of ${path} is not described`);
    return { name, in: "path", required: true, ...known };
  });
}

export function queryOf({ query }: DescribedOperation): OpenApiParameter[] {
  const { properties = {}, required = [] } = JSON.parse(JSON.stringify(query ?? {})) as JsonSchema;
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: required.includes(name),
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
    schema: text,
  }));
}
