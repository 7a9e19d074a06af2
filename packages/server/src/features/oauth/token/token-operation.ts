/** The token endpoint and the parameters of client authentication, for /openapi.json. */
import Type, { type TSchema } from "typebox";
import {
  cibaGrantType,
  deviceCodeGrantType,
  jwtBearerGrantType,
  tokenExchangeGrantType,
} from "../../../core/applications/application.ts";
import {
  type DescribedOperation,
  oauthErrorAnswers,
  problemAnswers,
} from "../../../http/api/described-operation.ts";

export const clientParameters = {
  client_id: Type.Optional(
    Type.String({
      format: "uuid",
      description: "Required for public clients, with a secret in the body, and with a device certificate",
    }),
  ),
  client_secret: Type.Optional(
    Type.String({ description: "For `client_secret_post`", examples: ["sgn_cs_…"] }),
  ),
  client_assertion_type: Type.Optional(
    Type.Literal("urn:ietf:params:oauth:client-assertion-type:jwt-bearer", {
      description: "For `private_key_jwt` (RFC 7523)",
    }),
  ),
  client_assertion: Type.Optional(
    Type.String({ description: "A JWT signed by the client: `aud` is the issuer, `jti` is used once" }),
  ),
};

/** HTTP Basic, a device certificate, or parameters in the form. */
export const clientSecurity: DescribedOperation["security"] = [
  ["clientSecretBasic"],
  ["deviceCertificate"],
  [],
];

export const exampleClient = {
  client_id: "01998d70-5c1e-7d3a-8a4b-6f0e2d9c7b15",
  client_secret: "sgn_cs_…",
};

export const scopeParameter = Type.String({
  description: "Space-separated",
  examples: ["openid profile email"],
});

const resource = Type.Optional(
  Type.String({ format: "uri", description: "Target of the token (RFC 8707); may be repeated" }),
);

const grant = (grantType: string, title: string, members: Readonly<Record<string, TSchema>>) =>
  Type.Object({ grant_type: Type.Literal(grantType), ...members, ...clientParameters }, { title });

const request = Type.Union([
  grant("authorization_code", "AuthorizationCodeGrant", {
    code: Type.String(),
    code_verifier: Type.Optional(
      Type.String({
        description: "PKCE; required unless the client is exempt",
        minLength: 43,
        maxLength: 128,
      }),
    ),
    redirect_uri: Type.Optional(Type.String({ description: "As in the authorization request" })),
    resource,
  }),
  grant("refresh_token", "RefreshTokenGrant", {
    refresh_token: Type.String(),
    scope: Type.Optional(scopeParameter),
    resource,
  }),
  grant("client_credentials", "ClientCredentialsGrant", {
    scope: Type.Optional(scopeParameter),
    resource,
  }),
  grant(deviceCodeGrantType, "DeviceCodeGrant", { device_code: Type.String(), resource }),
  grant(cibaGrantType, "CibaGrant", {
    auth_req_id: Type.String({
      description: "Of the backchannel authentication request",
      examples: ["sgn_ar_…"],
    }),
    resource,
  }),
  grant(jwtBearerGrantType, "JwtBearerGrant", {
    assertion: Type.String({
      description:
        "The identity token of a workload that is the client, or an identity assertion (ID-JAG) for a user",
    }),
    scope: Type.Optional(scopeParameter),
    resource,
  }),
  grant(tokenExchangeGrantType, "TokenExchangeGrant", {
    subject_token: Type.String({
      description: "An access token that the client may introspect, or its own ID token",
    }),
    subject_token_type: Type.String({ examples: ["urn:ietf:params:oauth:token-type:access_token"] }),
    requested_token_type: Type.Optional(
      Type.Enum(["urn:ietf:params:oauth:token-type:access_token", "urn:ietf:params:oauth:token-type:id-jag"]),
    ),
    audience: Type.Optional(Type.String({ description: "The target, unless `resource` names it" })),
    scope: Type.Optional(scopeParameter),
    resource,
  }),
]);

const tokenResponse = Type.Object(
  {
    access_token: Type.String({ description: "A JWT (RFC 9068)", examples: ["eyJhbGciOiJFUzI1NiJ9…"] }),
    token_type: Type.Enum(["Bearer", "DPoP", "N_A"], {
      description: "`DPoP` when the request had a DPoP proof (RFC 9449); `N_A` of an identity assertion",
    }),
    issued_token_type: Type.Optional(Type.String({ description: "Of an exchange (RFC 8693 §2.2.1)" })),
    expires_in: Type.Integer({ description: "Seconds", examples: [3600] }),
    scope: Type.Optional(scopeParameter),
    refresh_token: Type.Optional(
      Type.String({ description: "Single use: each refresh returns the next one", examples: ["sgn_rt_…"] }),
    ),
    id_token: Type.Optional(
      Type.String({ description: "With the scope openid", examples: ["eyJhbGciOiJFUzI1NiJ9…"] }),
    ),
  },
  { title: "TokenResponse" },
);

export const tokenOperation: DescribedOperation = {
  method: "POST",
  path: "/oauth/:org/token",
  operationId: "requestToken",
  summary: "Exchange a grant for tokens (RFC 6749 §3.2)",
  description:
    "Codes, device codes and auth_req_ids are single use. A rotated refresh token returns the same successor for a few seconds; later reuse revokes its token family. Polls before the user has decided get `authorization_pending`, early polls `slow_down`.",
  tag: "OAuth",
  security: clientSecurity,
  body: {
    contentType: "application/x-www-form-urlencoded",
    schema: request,
    isOptional: false,
    example: { grant_type: "client_credentials", ...exampleClient },
  },
  answers: {
    200: { description: "The tokens", schema: tokenResponse },
    ...oauthErrorAnswers([400, 401, 413, 415, 500, 503]),
    ...problemAnswers([404]),
  },
};
