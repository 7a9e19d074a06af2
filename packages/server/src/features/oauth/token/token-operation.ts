/** The token endpoint for /openapi.json: what each grant takes, and what all of them answer. */
import Type, { type TSchema } from "typebox";
import { deviceCodeGrantType } from "../../../core/applications/application.ts";
import {
  type DescribedOperation,
  oauthErrorAnswers,
  problemAnswers,
} from "../../../http/api/described-operation.ts";
import {
  clientParameters,
  clientSecurity,
  exampleClient,
  scopeParameter,
} from "../client-authentication/client-parameters.ts";

const resource = Type.Optional(
  Type.String({ format: "uri", description: "whom the token is for (RFC 8707); may be repeated" }),
);

const grant = (grantType: string, title: string, members: Readonly<Record<string, TSchema>>) =>
  Type.Object({ grant_type: Type.Literal(grantType), ...members, ...clientParameters }, { title });

const request = Type.Union([
  grant("authorization_code", "AuthorizationCodeGrant", {
    code: Type.String(),
    code_verifier: Type.Optional(
      Type.String({ description: "PKCE; needed unless the client is exempt", minLength: 43, maxLength: 128 }),
    ),
    redirect_uri: Type.Optional(Type.String({ description: "as in the authorization request" })),
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
]);

const tokenResponse = Type.Object(
  {
    access_token: Type.String({ description: "a JWT (RFC 9068)", examples: ["eyJhbGciOiJFUzI1NiJ9…"] }),
    token_type: Type.Literal("Bearer"),
    expires_in: Type.Integer({ description: "seconds", examples: [3600] }),
    scope: Type.Optional(scopeParameter),
    refresh_token: Type.Optional(
      Type.String({ description: "used once: the answer has its successor", examples: ["sgn_rt_…"] }),
    ),
    id_token: Type.Optional(
      Type.String({ description: "with the scope openid", examples: ["eyJhbGciOiJFUzI1NiJ9…"] }),
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
    "Codes and device codes are used once. A rotated refresh token may be presented again for a few seconds and gives the same successor; after that its whole family ends. A device that polls before the user has answered gets `authorization_pending`, one that polls too soon `slow_down`.",
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
