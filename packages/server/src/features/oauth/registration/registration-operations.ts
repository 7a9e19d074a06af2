/** Dynamic client registration, for /openapi.json. */
import Type, { type TSchema } from "typebox";
import { grantTypes, tokenEndpointAuthMethods } from "../../../core/applications/application.ts";
import {
  type DescribedOperation,
  oauthErrorAnswers,
  problemAnswers,
} from "../../../http/api/described-operation.ts";

const optional = (members: Readonly<Record<string, TSchema>>) =>
  Type.Partial(Type.Object(members)).properties;
const uris = (description: string) => Type.Array(Type.String(), { maxItems: 50, description });
const text = (description: string) => Type.String({ description });

/** The most used members; those of modern OAuth are in modern-oauth.md §1, in snake_case. */
const metadata = {
  redirect_uris: uris("Required for the authorization code grant"),
  client_name: text("What the consent page calls it"),
  client_uri: text("Kept when it is of the origin of a redirect URI"),
  logo_uri: text("Kept when it is of the origin of a redirect URI"),
  grant_types: Type.Array(Type.Enum([...grantTypes]), { description: "Default: authorization_code" }),
  response_types: Type.Array(Type.Literal("code")),
  token_endpoint_auth_method: Type.Enum([...tokenEndpointAuthMethods], {
    description: "Default: client_secret_basic",
  }),
  scope: text("Cut to what the initial access token allows; default: all of that"),
  contacts: Type.Array(Type.String()),
  application_type: Type.Enum(["web", "native"]),
  post_logout_redirect_uris: uris("Where a browser may go after signing out"),
  jwks: Type.Object({ keys: Type.Array(Type.Record(Type.String(), Type.Unknown())) }),
  jwks_uri: text("https"),
  software_statement: text("A JWT of an issuer that the organisation trusts: what it says wins"),
  dpop_bound_access_tokens: Type.Boolean(),
};

const information = Type.Object(
  {
    client_id: Type.String({ format: "uuid" }),
    client_id_issued_at: Type.Integer({ examples: [1893456000] }),
    client_secret: Type.Optional(text("Shown when it is new; never again")),
    client_secret_expires_at: Type.Optional(Type.Integer({ description: "0: never" })),
    registration_access_token: text("`sgn_ra_…`; a replacement answers with a new one"),
    registration_client_uri: Type.String({ format: "uri" }),
    ...optional(metadata),
  },
  { title: "ClientInformation", additionalProperties: true },
);

const body = (title: string, members: Readonly<Record<string, TSchema>>, example: object) =>
  ({
    contentType: "application/json",
    schema: Type.Object({ ...optional(metadata), ...members }, { title, additionalProperties: true }),
    isOptional: false,
    example,
  }) as const;

const example = {
  ...{ client_name: "Agent", redirect_uris: ["http://127.0.0.1:33418/callback"] },
  ...{ grant_types: ["authorization_code", "refresh_token"], token_endpoint_auth_method: "none" },
};

const errors = { ...oauthErrorAnswers([400, 401, 413, 415, 429, 500, 503]), ...problemAnswers([404]) };
const answer = (description: string) => ({ description, schema: information });
const shared = { tag: "OAuth", security: [["registrationToken"]] } satisfies Partial<DescribedOperation>;

export const registrationOperations: readonly DescribedOperation[] = [
  {
    ...shared,
    ...{ method: "POST", path: "/oauth/:org/register", operationId: "registerClient" },
    summary: "Register a client (RFC 7591)",
    description: "With an initial access token of the organisation, which says what the client may have.",
    body: body("ClientMetadata", {}, example),
    answers: { 201: answer("The client"), ...errors, ...oauthErrorAnswers([403]) },
  },
  {
    ...shared,
    ...{ method: "GET", path: "/oauth/:org/register/:clientId", operationId: "readClientRegistration" },
    summary: "Read the client's own registration (RFC 7592)",
    description: "With the client's registration access token.",
    answers: { 200: answer("The client"), ...errors },
  },
  {
    ...shared,
    ...{ method: "PUT", path: "/oauth/:org/register/:clientId", operationId: "replaceClientRegistration" },
    summary: "Replace the client's own registration (RFC 7592)",
    description:
      "All of it: what is left out is the default. The answer has a new registration access token; the old one works until that is used.",
    body: body(
      "OwnClientMetadata",
      { client_id: Type.String({ format: "uuid" }), client_secret: Type.Optional(text("The present one")) },
      { client_id: "01998d70-0000-7000-8000-000000000000", ...example },
    ),
    answers: { 200: answer("The client"), ...errors },
  },
  {
    ...shared,
    ...{ method: "DELETE", path: "/oauth/:org/register/:clientId", operationId: "deleteClientRegistration" },
    summary: "Delete the client itself (RFC 7592)",
    description: "With its tokens, codes and consents.",
    answers: { 204: { description: "Deleted" }, ...errors },
  },
];
