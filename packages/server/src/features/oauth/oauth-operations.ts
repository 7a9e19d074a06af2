/** The JSON endpoints of an issuer beside the token endpoint, for /openapi.json. */
import Type, { type TSchema } from "typebox";
import { attestations } from "../../core/devices/device.ts";
import {
  type DescribedOperation,
  oauthErrorAnswers,
  problemAnswers,
} from "../../http/api/described-operation.ts";
import {
  clientParameters,
  clientSecurity,
  exampleClient,
  scopeParameter,
} from "./client-authentication/client-parameters.ts";
import { publishedOperations } from "./published-operations.ts";
import { tokenOperation } from "./token/token-operation.ts";

const errors = { ...oauthErrorAnswers([400, 401, 413, 415, 500, 503]), ...problemAnswers([404]) };

const form = (members: Readonly<Record<string, TSchema>>, example: object) =>
  ({
    contentType: "application/x-www-form-urlencoded",
    schema: Type.Object({ ...members, ...clientParameters }),
    isOptional: false,
    example: { ...example, ...exampleClient },
  }) as const;

const aToken = {
  token: Type.String({ description: "an access token or a refresh token" }),
  token_type_hint: Type.Optional(Type.String({ description: "not needed, and ignored" })),
};

const seconds = (description: string) =>
  Type.Optional(
    Type.Integer({ description: `${description}, in seconds since 1970`, examples: [1893456000] }),
  );

const introspection = Type.Object(
  {
    active: Type.Boolean({ description: "when false, nothing else is told" }),
    iss: Type.Optional(Type.String()),
    sub: Type.Optional(Type.String({ description: "PermId of the user, or the client itself" })),
    aud: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
    client_id: Type.Optional(Type.String({ format: "uuid" })),
    org_id: Type.Optional(Type.String({ format: "uuid" })),
    scope: Type.Optional(scopeParameter),
    token_type: Type.Optional(
      Type.String({ description: "`Bearer`; a refresh token has none", examples: ["Bearer"] }),
    ),
    jti: Type.Optional(Type.String()),
    iat: seconds("issued"),
    exp: seconds("expires"),
    auth_time: seconds("when the user signed in"),
    acr: Type.Optional(Type.String({ examples: ["urn:signet:acr:pwd"] })),
    amr: Type.Optional(Type.Array(Type.String(), { examples: [["pwd"]] })),
    device_id: Type.Optional(
      Type.String({ format: "uuid", description: "the device that it was issued to" }),
    ),
    device_attestation: Type.Optional(
      Type.Enum([...attestations], { description: "whether a TPM vouched for the device's key" }),
    ),
    cnf: Type.Optional(
      Type.Object(
        { "x5t#S256": Type.String() },
        { description: "the certificate that the caller must have shown (RFC 8705 §3.2)" },
      ),
    ),
  },
  {
    title: "Introspection",
    additionalProperties: true,
    description: "claims of custom scopes come beside these",
  },
);

const userinfo = Type.Object(
  {
    sub: Type.String({ format: "uuid", description: "PermId" }),
    name: Type.Optional(Type.String()),
    preferred_username: Type.Optional(Type.String()),
    given_name: Type.Optional(Type.String()),
    family_name: Type.Optional(Type.String()),
    email: Type.Optional(Type.String()),
    email_verified: Type.Optional(Type.Boolean()),
    phone_number: Type.Optional(Type.String()),
  },
  { title: "Userinfo", additionalProperties: true, description: "claims of custom scopes come beside these" },
);

const deviceResponse = Type.Object(
  {
    device_code: Type.String({ examples: ["sgn_dc_…"] }),
    user_code: Type.String({ description: "what the person types in", examples: ["BCDF-GHJK"] }),
    verification_uri: Type.String({ format: "uri" }),
    verification_uri_complete: Type.String({
      format: "uri",
      description: "with the code in it, e.g. as a QR code",
    }),
    expires_in: Type.Integer({ examples: [900] }),
    interval: Type.Integer({ description: "seconds between two polls", examples: [5] }),
  },
  { title: "DeviceAuthorization" },
);

const userinfoOperation = (method: "GET" | "POST"): DescribedOperation => ({
  method,
  path: "/oauth/:org/userinfo",
  operationId: method === "GET" ? "getUserinfo" : "postUserinfo",
  summary:
    method === "GET"
      ? "What the access token tells about its user (OpenID Connect Core §5.3)"
      : "The same by POST",
  description: "The token needs the scope openid. By POST it may stand in the form as `access_token`.",
  tag: "OAuth",
  security: method === "GET" ? [["accessToken"]] : [["accessToken"], []],
  ...(method === "GET"
    ? {}
    : {
        body: {
          contentType: "application/x-www-form-urlencoded",
          schema: Type.Object({ access_token: Type.Optional(Type.String()) }),
          isOptional: true,
          example: { access_token: "eyJhbGciOiJFUzI1NiJ9…" },
        },
      }),
  answers: {
    200: { description: "The claims", schema: userinfo },
    ...errors,
    ...oauthErrorAnswers([403]),
  },
});

export const oauthOperations: readonly DescribedOperation[] = [
  tokenOperation,
  {
    method: "POST",
    path: "/oauth/:org/revoke",
    operationId: "revokeToken",
    summary: "End a token (RFC 7009)",
    description:
      "A refresh token takes its whole family along. An unknown token is answered like success. Who verifies access tokens without asking sees the end when they expire.",
    tag: "OAuth",
    security: clientSecurity,
    body: form(aToken, { token: "sgn_rt_…" }),
    answers: { 200: { description: "The token works no more" }, ...errors },
  },
  {
    method: "POST",
    path: "/oauth/:org/introspect",
    operationId: "introspectToken",
    summary: "Whether a token is good, and what it says (RFC 7662)",
    description: "For confidential clients, about their own tokens and those that are meant for them.",
    tag: "OAuth",
    security: clientSecurity,
    body: form(aToken, { token: "eyJhbGciOiJFUzI1NiJ9…" }),
    answers: { 200: { description: "What the token is", schema: introspection }, ...errors },
  },
  userinfoOperation("GET"),
  userinfoOperation("POST"),
  {
    method: "POST",
    path: "/oauth/:org/device",
    operationId: "startDeviceGrant",
    summary: "Ask for a code that a person types in elsewhere (RFC 8628)",
    tag: "OAuth",
    security: clientSecurity,
    body: form({ scope: Type.Optional(scopeParameter) }, { scope: "openid profile" }),
    answers: {
      200: { description: "The codes", schema: deviceResponse },
      ...errors,
      ...oauthErrorAnswers([429]),
    },
  },
  ...publishedOperations,
];
