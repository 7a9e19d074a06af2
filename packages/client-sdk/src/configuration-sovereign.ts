/** Which keys of signing agents are trusted (sovereign-signing.md §8): a pool alone, or exactly one kind of pin. */
import type { JWK } from "jose";
import type { Fault } from "./configuration-fault.ts";
import type { FilterType } from "./filter.ts";

interface SovereignProperties {
  readonly filterType: FilterType;
  readonly environment?: string;
  readonly sovereignSigningPoolId?: string;
  readonly sovereignTrustedRootCertificates?: readonly string[];
  readonly sovereignKeyThumbprints?: readonly string[];
  readonly sovereignPublicKeys?: readonly (JWK | string)[];
  readonly sovereignRequiredKeyId?: string;
  readonly sovereignAllowUnpinned?: boolean;
  readonly sovereignIssuerMode?: "pool" | "organisation";
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

const pins = [
  "sovereignTrustedRootCertificates",
  "sovereignKeyThumbprints",
  "sovereignPublicKeys",
] as const satisfies (keyof SovereignProperties)[];

export function checkedSovereign(
  configuration: SovereignProperties,
  issuer: string | undefined,
  fault: Fault,
) {
  const given = Object.entries(configuration).filter(
    ([name, value]) => name.startsWith("sovereign") && value !== undefined,
  );
  if (given.length === 0 || configuration.filterType === "None")
    return issuer === undefined ? {} : { tokenIssuer: issuer };
  if (!configuration.filterType.startsWith("OAuth")) {
    const names = given.map(([name]) => name).join(", ");
    fault(`${names}: ${configuration.filterType} sees no tokens, so nothing would be checked.`);
    return {};
  }
  checkTrust(configuration, fault);
  checkPins(configuration, fault);
  const sovereign = settingsOf(configuration, issuer);
  const isPools = configuration.sovereignIssuerMode !== "organisation";
  const tokenIssuer = (isPools ? sovereign.poolIssuer : undefined) ?? issuer;
  return { sovereign, ...(tokenIssuer === undefined ? {} : { tokenIssuer }) };
}

function checkTrust(configuration: SovereignProperties, fault: Fault): void {
  const { sovereignSigningPoolId: poolId, environment = "production" } = configuration;
  const given = pins.filter((name) => configuration[name] !== undefined);
  if (given.length > 1) fault(`Only one of ${given.join(", ")}: with two it is not clear which one decides.`);
  if (poolId !== undefined && !uuid.test(poolId)) fault("sovereignSigningPoolId must be a UUID.");
  if (poolId === undefined && given.length === 0)
    fault("sovereignRequiredKeyId and sovereignAllowUnpinned go with sovereignSigningPoolId or a pin.");
  if (poolId === undefined && configuration.sovereignIssuerMode !== undefined)
    fault("sovereignIssuerMode goes with sovereignSigningPoolId: it is the pool's.");
  // The name in a certificate is the pool's issuer: any certificate of the same authority could sign tokens otherwise.
  if (poolId === undefined && given.includes("sovereignTrustedRootCertificates"))
    fault("sovereignTrustedRootCertificates needs sovereignSigningPoolId, which certificates must name.");
  if (poolId !== undefined && given.length === 0 && environment === "production" && !isForced(configuration))
    fault(
      "sovereignSigningPoolId alone trusts whatever keys the service publishes, and is refused in production: pin roots, " +
        "thumbprints or public keys, or set sovereignAllowUnpinned.",
    );
}

function isForced({ sovereignAllowUnpinned }: SovereignProperties): boolean {
  return sovereignAllowUnpinned === true;
}

function checkPins(configuration: SovereignProperties, fault: Fault): void {
  // An empty list would pin nothing, or nobody: either way it is not what was meant.
  for (const name of pins) if (configuration[name]?.length === 0) fault(`${name} is empty.`);
  for (const root of configuration.sovereignTrustedRootCertificates ?? [])
    if (pemBlocks(root) !== "CERTIFICATE")
      fault("sovereignTrustedRootCertificates must be PEM, one certificate in each.");
  for (const thumbprint of configuration.sovereignKeyThumbprints ?? [])
    if (!/^[A-Za-z0-9_-]{43}$/.test(thumbprint))
      fault("sovereignKeyThumbprints must be SHA-256 in base64url, 43 characters each (RFC 7638).");
  for (const key of configuration.sovereignPublicKeys ?? []) {
    const isPublic = typeof key === "string" ? pemBlocks(key) === "PUBLIC KEY" : isPublicJwk(key);
    if (!isPublic) fault("sovereignPublicKeys must be public keys: JWKs, or PEM (BEGIN PUBLIC KEY).");
  }
}

/** The names of the PEM blocks in a text (RFC 7468 §2). */
function pemBlocks(text: string): string {
  return [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----/g)].map(([, name]) => name).join("+");
}

function isPublicJwk(jwk: object): boolean {
  const members = new Map(Object.entries(jwk));
  return ["EC", "OKP", "RSA"].includes(members.get("kty")) && !members.has("d") && !members.has("k");
}

function settingsOf(configuration: SovereignProperties, issuer: string | undefined) {
  const poolId = configuration.sovereignSigningPoolId?.toLowerCase();
  const requiredKeyId = configuration.sovereignRequiredKeyId;
  return {
    ...(poolId === undefined
      ? {}
      : { poolId, poolIssuer: `${issuer?.replace(/\/$/, "")}/sovereign/pools/${poolId}` }),
    trustedRoots: configuration.sovereignTrustedRootCertificates ?? [],
    thumbprints: configuration.sovereignKeyThumbprints ?? [],
    publicKeys: configuration.sovereignPublicKeys ?? [],
    ...(requiredKeyId === undefined ? {} : { requiredKeyId }),
    allowUnpinned: isForced(configuration),
  };
}
