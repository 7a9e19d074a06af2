/** Which keys of signing agents are trusted (sovereign-signing.md §8): a pool alone, or exactly one kind of pin. */
import { withoutUndefined } from "../tokens/claims.ts";
import { isUuid } from "./properties.ts";
import type { FilterProperties } from "./settings.ts";

const pins = ["sovereignTrustedRootCertificates", "sovereignKeyThumbprints", "sovereignPublicKeys"] as const;

export function checkSovereign(
  configuration: FilterProperties,
  issuer: string | undefined,
  reasons: string[],
) {
  const given = Object.entries(configuration).filter(
    ([name, value]) => name.startsWith("sovereign") && value !== undefined,
  );
  if (given.length === 0 || configuration.filterType === "None") return { tokenIssuer: issuer };
  if (!configuration.filterType.startsWith("OAuth")) {
    const names = given.map(([name]) => name).join(", ");
    reasons.push(`${names}: ${configuration.filterType} receives no tokens, so nothing would be checked.`);
    return {};
  }
  checkTrust(configuration, reasons);
  checkPins(configuration, reasons);
  const sovereign = sovereignSettings(configuration, issuer);
  const usesPoolIssuer = configuration.sovereignIssuerMode !== "organisation";
  const tokenIssuer = (usesPoolIssuer ? sovereign.poolIssuer : undefined) ?? issuer;
  return { sovereign, tokenIssuer };
}

function checkTrust(configuration: FilterProperties, reasons: string[]): void {
  const { sovereignSigningPoolId: poolId, environment = "production" } = configuration;
  const given = pins.filter((name) => configuration[name] !== undefined);
  if (given.length > 1) reasons.push(`Set only one of ${given.join(", ")}.`);
  if (poolId !== undefined && !isUuid(poolId)) reasons.push("sovereignSigningPoolId must be a UUID.");
  if (poolId === undefined && given.length === 0)
    reasons.push("sovereignRequiredKeyId and sovereignAllowUnpinned need sovereignSigningPoolId or a pin.");
  if (poolId === undefined && configuration.sovereignIssuerMode !== undefined)
    reasons.push("sovereignIssuerMode needs sovereignSigningPoolId.");
  // Otherwise any certificate of the same CA could sign tokens: the certificate names the pool's issuer.
  if (poolId === undefined && given.includes("sovereignTrustedRootCertificates"))
    reasons.push(
      "sovereignTrustedRootCertificates needs sovereignSigningPoolId, which certificates must name.",
    );
  const isUnpinned = poolId !== undefined && given.length === 0 && !configuration.sovereignAllowUnpinned;
  if (isUnpinned && environment === "production")
    reasons.push(
      "sovereignSigningPoolId alone trusts any key the service publishes, so production rejects it: pin roots, " +
        "thumbprints or public keys, or set sovereignAllowUnpinned.",
    );
}

function checkPins(configuration: FilterProperties, reasons: string[]): void {
  for (const name of pins) if (configuration[name]?.length === 0) reasons.push(`${name} is empty.`);
  for (const root of configuration.sovereignTrustedRootCertificates ?? [])
    if (pemLabels(root) !== "CERTIFICATE")
      reasons.push("sovereignTrustedRootCertificates must be PEM, one certificate per item.");
  for (const thumbprint of configuration.sovereignKeyThumbprints ?? [])
    if (!/^[A-Za-z0-9_-]{43}$/.test(thumbprint))
      reasons.push("sovereignKeyThumbprints must be SHA-256 in base64url, 43 characters each (RFC 7638).");
  for (const key of configuration.sovereignPublicKeys ?? []) {
    const isPublic = typeof key === "string" ? pemLabels(key) === "PUBLIC KEY" : isPublicJwk(key);
    if (!isPublic) reasons.push("sovereignPublicKeys must be public keys: JWKs, or PEM (BEGIN PUBLIC KEY).");
  }
}

/** The labels of the PEM blocks in a text (RFC 7468 §2), joined with `+`. */
function pemLabels(text: string): string {
  return [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----/g)].map(([, label]) => label).join("+");
}

function isPublicJwk(jwk: object): boolean {
  const members = new Map(Object.entries(jwk));
  return ["EC", "OKP", "RSA"].includes(members.get("kty")) && !members.has("d") && !members.has("k");
}

function sovereignSettings(configuration: FilterProperties, issuer: string | undefined) {
  const poolId = configuration.sovereignSigningPoolId?.toLowerCase();
  return withoutUndefined({
    poolId,
    poolIssuer: poolId && `${issuer?.replace(/\/$/, "")}/sovereign/pools/${poolId}`,
    trustedRoots: configuration.sovereignTrustedRootCertificates ?? [],
    thumbprints: configuration.sovereignKeyThumbprints ?? [],
    publicKeys: configuration.sovereignPublicKeys ?? [],
    requiredKeyId: configuration.sovereignRequiredKeyId,
    allowUnpinned: configuration.sovereignAllowUnpinned === true,
  });
}
