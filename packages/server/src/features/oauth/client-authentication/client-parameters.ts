/** How a client shows who it is, for /openapi.json: the parameters that every form of these endpoints may have. */
import Type from "typebox";
import type { DescribedOperation } from "../../../http/api/described-operation.ts";

export const clientParameters = {
  client_id: Type.Optional(
    Type.String({
      format: "uuid",
      description: "of public clients, with a secret in the form, and beside a device's certificate",
    }),
  ),
  client_secret: Type.Optional(Type.String({ description: "`client_secret_post`", examples: ["sgn_cs_…"] })),
  client_assertion_type: Type.Optional(
    Type.Literal("urn:ietf:params:oauth:client-assertion-type:jwt-bearer", {
      description: "`private_key_jwt` (RFC 7523)",
    }),
  ),
  client_assertion: Type.Optional(
    Type.String({ description: "a JWT that the client signed: `aud` the issuer, `jti` used once" }),
  ),
};

/** By HTTP Basic, by a device's certificate, or by the form. */
export const clientSecurity: DescribedOperation["security"] = [
  ["clientSecretBasic"],
  ["deviceCertificate"],
  [],
];

/** What the examples show. */
export const exampleClient = {
  client_id: "01998d70-5c1e-7d3a-8a4b-6f0e2d9c7b15",
  client_secret: "sgn_cs_…",
};

export const scopeParameter = Type.String({
  description: "separated by spaces",
  examples: ["openid profile email"],
});
