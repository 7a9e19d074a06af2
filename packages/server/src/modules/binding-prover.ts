/** The certificate or key of an access token, for APIs beside the OAuth endpoints (RFC 8705 §3, RFC 9449 §7). */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { ApiAccessDeps } from "../features/api-v1/access.ts";
import { proveToken } from "../features/oauth/bearer-authentication.ts";
import { hasBoundCertificate } from "../features/oauth/client-authentication/client-device.ts";
import type { Service } from "./open-service.ts";

export function bindingProver(service: Service): ApiAccessDeps["proveBinding"] {
  const { baseUrl, mtlsBaseUrl } = service.config;
  const bases = mtlsBaseUrl === undefined ? [baseUrl] : [baseUrl, mtlsBaseUrl];
  const deps = { ...service, baseUrl, mtlsBaseUrl };
  return async (organisation, request, presented) => {
    if (!(await hasBoundCertificate(deps, organisation, request, presented.claims)))
      throw new OAuthError("invalid_token", "the access token is bound to a certificate that is missing");
    const [path = ""] = (request.raw.url ?? "").split("?");
    const { headers, raw } = request;
    await proveToken(deps, organisation, { headers, raw, urls: bases.map((base) => base + path) }, presented);
  };
}
