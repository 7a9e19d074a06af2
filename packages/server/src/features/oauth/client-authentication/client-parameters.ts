/** Client authentication parameters for /openapi.json. */
import Type from "typebox";
import type { DescribedOperation } from "../../../http/api/described-operation.ts";

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
