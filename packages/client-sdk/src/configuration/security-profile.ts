/** The security profile, and the client's key and certificate. `client-security.ts` says what they turn on. */
import { algorithmOf, clientAlgorithms, profileAlgorithms } from "../tokens/algorithms.ts";
import { withoutUndefined } from "../tokens/claims.ts";
import type { FilterProperties } from "./settings.ts";

export function checkSecurityProfile(configuration: FilterProperties, reasons: string[]) {
  const { filterType, securityProfile, oauthClientKey: clientKey } = configuration;
  const { oauthClientCertificate: certificate, oauthClientCertificateKey: key } = configuration;
  const isFapi = securityProfile !== undefined && securityProfile !== "none";
  if (filterType === "None") return {};
  if (isFapi && !filterType.startsWith("OAuth"))
    reasons.push(`securityProfile is for the OAuth filters: ${filterType} would do nothing of it.`);
  if ((certificate === undefined) !== (key === undefined))
    reasons.push("oauthClientCertificate and oauthClientCertificateKey must be set together.");
  // The entry that organisations share takes no pushed requests.
  if (isFapi && filterType === "OAuthFederated" && configuration.organisations !== undefined)
    reasons.push("securityProfile and organisations exclude each other with OAuthFederated.");
  if (isFapi) checkProfile(configuration, reasons);
  checkClientKey(configuration, isFapi, reasons);
  return withoutUndefined({
    ...{ securityProfile, clientKey },
    clientCertificate: certificate === undefined || key === undefined ? undefined : { certificate, key },
  });
}

function checkProfile(configuration: FilterProperties, reasons: string[]): void {
  const { securityProfile, oauthClientSecret, oauthIdTokenAlg, oauthClientKey } = configuration;
  if (oauthClientSecret !== undefined)
    reasons.push(`securityProfile ${securityProfile} has no client secrets: leave oauthClientSecret out.`);
  if (oauthIdTokenAlg !== undefined && !profileAlgorithms.includes(oauthIdTokenAlg))
    reasons.push("oauthIdTokenAlg must be ES256, PS256 or EdDSA with a securityProfile.");
  if (securityProfile === "fapi2" && oauthClientKey !== undefined && configuration.oauthClientCertificate)
    reasons.push("securityProfile fapi2 uses oauthClientKey or oauthClientCertificate: set one of them.");
}

function checkClientKey({ oauthClientKey }: FilterProperties, isFapi: boolean, reasons: string[]): void {
  if (oauthClientKey === undefined) return;
  const alg = algorithmOf(oauthClientKey);
  if (alg === undefined) reasons.push("oauthClientKey must have an alg, or be a P-256, Ed25519 or RSA key.");
  else if (!clientAlgorithms.includes(alg))
    reasons.push(
      "oauthClientKey must be for an algorithm of clients, such as ES256: ML-DSA signs tokens alone.",
    );
  else if (isFapi && !profileAlgorithms.includes(alg))
    reasons.push("oauthClientKey must be for ES256, PS256 or EdDSA with a securityProfile.");
}
