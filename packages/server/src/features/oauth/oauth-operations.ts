/** The OAuth endpoints of an issuer, for /openapi.json. */

import Type, { type TSchema } from "typebox";
import { attestations } from "../../core/devices/device.ts";
import { type EntitlementScope, entitlementScopes } from "../../core/scopes/scopes.ts";
import {
  type DescribedOperation,
  oauthErrorAnswers,
  problemAnswers,
} from "../../http/api/described-operation.ts";
import { publishedOperations } from "./published-operations.ts";
import {
  clientParameters,
  clientSecurity,
  exampleClient,
  scopeParameter,
  tokenOperation,
} from "./token/token-operation.ts";

const errors = { ...oauthErrorAnswers([400, 401, 413, 415, 500, 503]), ...problemAnswers([404]) };

const form = (members: Readonly<Record<string, TSchema>>, example: object) =>
  ({
    contentType: "application/x-www-form-urlencoded",
    schema: Type.Object({ ...members, ...clientParameters }),
    isOptional: false,
    example: { ...example, ...exampleClient },
  }) as const;

const tokenParameters = {
  token: Type.String({ description: "An access token or a refresh token" }),
  token_type_hint: Type.Optional(Type.String({ description: "Ignored" })),
};

const seconds = (description: string) =>
  Type.Optional(
    Type.Integer({ description: `${description}, in seconds since 1970`, examples: [1893456000] }),
  );

const introspection = Type.Object(
  {
    active: Type.Boolean({ description: "When false, the response has no other member" }),
    iss: Type.Optional(Type.String()),
    sub: Type.Optional(Type.String({ description: "PermId of the user, or the client_id" })),
    aud: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
    client_id: Type.Optional(Type.String({ format: "uuid" })),
    org_id: Type.Optional(Type.String({ format: "uuid" })),
    scope: Type.Optional(scopeParameter),
    token_type: Type.Optional(
      Type.String({ description: "`Bearer` or `DPoP`; absent for a refresh token", examples: ["Bearer"] }),
    ),
    jti: Type.Optional(Type.String()),
    iat: seconds("Time of issue"),
    exp: seconds("Expiry"),
    auth_time: seconds("Time of the sign-in"),
    acr: Type.Optional(Type.String({ examples: ["urn:signet:acr:pwd"] })),
    amr: Type.Optional(Type.Array(Type.String(), { examples: [["pwd"]] })),
    device_id: Type.Optional(
      Type.String({ format: "uuid", description: "The device that the token was issued to" }),
    ),
    device_attestation: Type.Optional(
      Type.Enum([...attestations], { description: "Whether a TPM attested the device key" }),
    ),
    cnf: Type.Optional(
      Type.Object(
        { "x5t#S256": Type.Optional(Type.String()), jkt: Type.Optional(Type.String()) },
        { description: "The certificate (RFC 8705 §3.2) or key (RFC 9449 §6.2) that the token is bound to" },
      ),
    ),
  },
  {
    title: "Introspection",
    additionalProperties: true,
    description: "Claims of custom scopes are added",
  },
);

/** OpenID Connect Core §5.1.1. */
const address = Type.Object({
  formatted: Type.Optional(Type.String()),
  street_address: Type.Optional(Type.String()),
  locality: Type.Optional(Type.String()),
  region: Type.Optional(Type.String()),
  postal_code: Type.Optional(Type.String()),
  country: Type.Optional(Type.String()),
});

const userinfo = Type.Object(
  {
    sub: Type.String({ format: "uuid", description: "PermId" }),
    name: Type.Optional(Type.String()),
    preferred_username: Type.Optional(Type.String()),
    given_name: Type.Optional(Type.String()),
    family_name: Type.Optional(Type.String()),
    role: Type.Optional(Type.Enum(["Standard", "Administrator"])),
    org_id: Type.Optional(Type.String({ format: "uuid" })),
    middle_name: Type.Optional(Type.String()),
    nickname: Type.Optional(Type.String()),
    profile: Type.Optional(Type.String({ description: "http or https" })),
    picture: Type.Optional(Type.String({ description: "http or https" })),
    website: Type.Optional(Type.String({ description: "http or https" })),
    gender: Type.Optional(Type.String()),
    birthdate: Type.Optional(Type.String({ examples: ["1990-05-17"] })),
    zoneinfo: Type.Optional(Type.String({ examples: ["Europe/Copenhagen"] })),
    locale: Type.Optional(Type.String({ examples: ["en-GB"] })),
    updated_at: Type.Optional(Type.Integer({ description: "Seconds since 1970" })),
    email: Type.Optional(Type.String()),
    email_verified: Type.Optional(Type.Boolean()),
    phone_number: Type.Optional(Type.String()),
    phone_number_verified: Type.Optional(Type.Boolean()),
    address: Type.Optional(address),
    ...Object.fromEntries(
      entitlementScopes.flatMap((name) => [
        [name, Type.Optional(Type.Array(Type.String()))],
        [`${name}_overage`, Type.Optional(Type.Boolean({ description: "More than 200: see the pages" }))],
      ]),
    ),
  },
  { title: "Userinfo", additionalProperties: true, description: "Claims of custom scopes are added" },
);

const deviceResponse = Type.Object(
  {
    device_code: Type.String({ examples: ["sgn_dc_…"] }),
    user_code: Type.String({ description: "The code that the user enters", examples: ["BCDF-GHJK"] }),
    verification_uri: Type.String({ format: "uri" }),
    verification_uri_complete: Type.String({
      format: "uri",
      description: "Includes the code, for example for a QR code",
    }),
    expires_in: Type.Integer({ examples: [900] }),
    interval: Type.Integer({ description: "Seconds between two polls", examples: [5] }),
  },
  { title: "DeviceAuthorization" },
);

const userinfoOperation = (method: "GET" | "POST"): DescribedOperation => ({
  method,
  path: "/oauth/:org/userinfo",
  operationId: method === "GET" ? "getUserinfo" : "postUserinfo",
  summary:
    method === "GET"
      ? "Get the claims of the user (OpenID Connect Core §5.3)"
      : "Get the claims of the user by POST",
  description: "The access token needs the scope openid. A POST may send it in the form as `access_token`.",
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

const entitledPage = (claim: EntitlementScope): DescribedOperation => ({
  method: "GET",
  path: `/oauth/:org/userinfo/${claim}`,
  operationId: `list${claim[0]?.toUpperCase()}${claim.slice(1)}OfToken`,
  summary: `List the ${claim} of the token's subject`,
  description: `For a token with \`${claim}_overage\`: more than 200 are not told in it. The access token needs the scope ${claim}. In the application that the token is for.`,
  tag: "OAuth",
  security: [["accessToken"]],
  query: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    cursor: Type.Optional(Type.String({ description: "`nextCursor` of the page before" })),
  }),
  answers: {
    200: {
      description: "A page, sorted",
      schema: Type.Object({
        items: Type.Array(Type.String()),
        nextCursor: Type.Union([Type.String(), Type.Null()]),
      }),
    },
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
    summary: "Revoke a token (RFC 7009)",
    description:
      "A refresh token revokes its whole token family. An unknown token is a success. APIs that verify access tokens locally accept them until they expire.",
    tag: "OAuth",
    security: clientSecurity,
    body: form(tokenParameters, { token: "sgn_rt_…" }),
    answers: { 200: { description: "The token is revoked" }, ...errors },
  },
  {
    method: "POST",
    path: "/oauth/:org/introspect",
    operationId: "introspectToken",
    summary: "Introspect a token (RFC 7662)",
    description: "For confidential clients: their own tokens and tokens with them as audience.",
    tag: "OAuth",
    security: clientSecurity,
    body: form(tokenParameters, { token: "eyJhbGciOiJFUzI1NiJ9…" }),
    answers: {
      200: { description: "The state and the claims of the token", schema: introspection },
      ...errors,
    },
  },
  userinfoOperation("GET"),
  userinfoOperation("POST"),
  ...entitlementScopes.map(entitledPage),
  {
    method: "POST",
    path: "/oauth/:org/device",
    operationId: "startDeviceGrant",
    summary: "Start a device authorization (RFC 8628)",
    tag: "OAuth",
    security: clientSecurity,
    body: form({ scope: Type.Optional(scopeParameter) }, { scope: "openid profile" }),
    answers: {
      200: { description: "The codes", schema: deviceResponse },
      ...errors,
      ...oauthErrorAnswers([429]),
    },
  },
  {
    method: "POST",
    path: "/oauth/:org/bc-authorize",
    operationId: "requestBackchannelAuthentication",
    summary: "Ask a user for authentication without a browser of theirs (OpenID Connect CIBA Core 1.0 §7)",
    description:
      "The user decides on the account page; the client polls the token endpoint. For confidential clients with the CIBA grant. Exactly one of `login_hint` and `id_token_hint`; an unknown user is `unknown_user_id`.",
    tag: "OAuth",
    security: clientSecurity,
    body: form(
      {
        scope: scopeParameter,
        login_hint: Type.Optional(Type.String({ description: "Email address or `sub` of the user" })),
        id_token_hint: Type.Optional(
          Type.String({ description: "An ID token that was issued to the client; it may have expired" }),
        ),
        binding_message: Type.Optional(
          Type.String({ maxLength: 100, description: "Shown to the user, who compares it" }),
        ),
        requested_expiry: Type.Optional(
          Type.String({ pattern: "^[1-9][0-9]{0,8}$", description: "Seconds; at most 300 are given" }),
        ),
        acr_values: Type.Optional(
          Type.String({ description: "A preference, as at the authorization endpoint" }),
        ),
        authorization_details: Type.Optional(Type.String({ description: "JSON (RFC 9396)" })),
      },
      { scope: "openid", login_hint: "ada@acme.example", binding_message: "W4SCT" },
    ),
    answers: {
      200: {
        description: "What the client polls with",
        schema: Type.Object(
          {
            auth_req_id: Type.String({ examples: ["sgn_ar_…"] }),
            expires_in: Type.Integer({ examples: [300] }),
            interval: Type.Integer({ description: "Seconds between two polls", examples: [5] }),
          },
          { title: "BackchannelAuthentication" },
        ),
      },
      ...errors,
      ...oauthErrorAnswers([429]),
    },
  },
  {
    method: "POST",
    path: "/oauth/:org/par",
    operationId: "pushAuthorizationRequest",
    summary: "Push an authorization request (RFC 9126)",
    description:
      "The parameters of the authorization endpoint, or a signed request object (RFC 9101). The browser then comes with `client_id` and `request_uri`.",
    tag: "OAuth",
    security: clientSecurity,
    body: form(
      {
        response_type: Type.Optional(Type.String()),
        redirect_uri: Type.Optional(Type.String()),
        scope: Type.Optional(scopeParameter),
        code_challenge: Type.Optional(Type.String()),
        code_challenge_method: Type.Optional(Type.String()),
        state: Type.Optional(Type.String()),
        request: Type.Optional(Type.String({ description: "A signed request object; all else is ignored" })),
      },
      {
        ...{ response_type: "code", redirect_uri: "https://app.example/callback", scope: "openid" },
        ...{ code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", code_challenge_method: "S256" },
      },
    ),
    answers: {
      201: {
        description: "Where the request is for a minute",
        schema: Type.Object(
          {
            request_uri: Type.String({ examples: ["urn:ietf:params:oauth:request_uri:…"] }),
            expires_in: Type.Integer({ examples: [60] }),
          },
          { title: "PushedAuthorizationRequest" },
        ),
      },
      ...errors,
      ...oauthErrorAnswers([429]),
    },
  },
  ...publishedOperations,
];
