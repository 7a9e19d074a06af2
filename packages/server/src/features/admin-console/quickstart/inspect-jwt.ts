/** Inspects a signed token: signature, claims, and whether it is still accepted. Nothing is trusted before the signature is verified. */
import { isUuid } from "@signet/protocol/hash";
import { isTokenAlg, verifyJws } from "@signet/protocol/jose/jws";
import { seconds } from "../../../core/clock.ts";
import { findDevice } from "../../../core/devices/devices.store.ts";
import { issuerOf, type Organisation } from "../../../core/organisations/organisation.ts";
import type { SigningKeys } from "../../../core/signing-keys/signing-keys.ts";
import { verifyAgentToken } from "../../../core/signing-pools/agent-key.ts";
import type { SigningPoolDirectory } from "../../../core/signing-pools/directory.ts";
import { signingPoolIssuer } from "../../../core/signing-pools/signing-pool.ts";
import type { AccessTokens } from "../../../core/tokens/access-tokens.ts";
import { familyIdFromTokenId } from "../../../core/tokens/token-family.ts";
import { findTokenFamily } from "../../../core/tokens/tokens.store.ts";
import { type SecretDeps, whoseIsIt } from "./inspect-secret.ts";
import { bad, type Claims, type Finding, good, type Inspection, type TokenKind, warn } from "./inspection.ts";

export interface JwtDeps extends SecretDeps {
  readonly baseUrl: string;
  readonly keys: Pick<SigningKeys, "published">;
  readonly signingPools: Pick<SigningPoolDirectory, "published">;
  readonly accessTokens: AccessTokens;
}

type Decoded = { readonly header: Claims; readonly payload: Claims };

export async function inspectJwt(
  deps: JwtDeps,
  organisation: Organisation,
  token: string,
  decoded: Decoded,
): Promise<Inspection> {
  const { payload } = decoded;
  const kind = kindOfJwt(decoded);
  const signature = await checkSignature(deps, organisation, token, decoded);
  const findings = [
    signature.finding,
    issuerFinding(payload, signature.issuer),
    ...timeFindings(payload, seconds(deps.clock())),
  ];
  if (signature.finding.outcome !== "good") return { kind, findings, decoded };
  const whose = await whoseIsIt(deps, organisation.id, tokenOwners(kind, payload));
  const isGoodSoFar = findings.every(({ outcome }) => outcome !== "bad");
  const revocation = isGoodSoFar ? await checkRevocation(deps, organisation, { token, kind, payload }) : [];
  return {
    kind,
    findings: [...findings, ...whose.findings, ...(whose.findings.length === 0 ? revocation : [])],
    decoded,
    ...whose.names,
  };
}

function kindOfJwt({ header, payload }: Decoded): TokenKind {
  const typ = String(header["typ"] ?? "").toLowerCase();
  if (typ === "at+jwt" || typ === "application/at+jwt") return "access";
  if (typ === "logout+jwt" || isRecord(payload["events"])) return "logout";
  // An application may issue access tokens of the type JWT; an ID token never has a client_id.
  if (typ === "jwt" && typeof payload["client_id"] === "string" && "jti" in payload) return "access";
  return typ === "jwt" && typeof payload["sub"] === "string" && "auth_time" in payload ? "id" : "jwt";
}

const isRecord = (value: unknown): value is Claims => typeof value === "object" && value !== null;

/** The key decides the algorithm, never the token (RFC 8725 §3.1). */
async function checkSignature(
  deps: JwtDeps,
  { id: orgId }: Organisation,
  token: string,
  { header }: Decoded,
): Promise<{ finding: Finding; issuer: string }> {
  const own = issuerOf(deps.baseUrl, orgId);
  const { kid, alg, typ } = header;
  const type = typeof typ === "string" ? typ : undefined;
  if (!isTokenAlg(alg)) return { finding: bad("algorithmUnknown", claimText(alg)), issuer: own };
  if (typeof kid !== "string") return { finding: bad("keyUnnamed"), issuer: own };
  const key = (await deps.keys.published(orgId)).find((one) => one.kid === kid);
  if (key) {
    if (key.alg !== alg) return { finding: bad("algorithmOther", alg), issuer: own };
    const isGood = verifyJws(token, () => key, { typ: [type] }) !== undefined;
    return { finding: isGood ? good("signature", kid) : bad("signatureWrong", kid), issuer: own };
  }
  const agent = (await deps.signingPools.published(orgId)).find((one) => one.key.kid === kid);
  if (!agent) return { finding: bad("keyUnknown", kid), issuer: own };
  const issuer = signingPoolIssuer(deps.baseUrl, agent.pool);
  const verified = verifyAgentToken(
    token,
    { publicKey: agent.publicKey, alg: agent.key.alg },
    type === "at+jwt" ? "at+jwt" : "JWT",
  );
  return { finding: verified ? good("poolSignature", agent.pool.name) : bad("signatureWrong", kid), issuer };
}

const claimText = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value ?? null);

const issuerFinding = ({ iss }: Claims, expected: string): Finding =>
  iss === expected ? good("issuer") : bad("issuerOther", claimText(iss));

/** RFC 7519 §4.1.4 to §4.1.6, with a minute of clock skew. */
function timeFindings({ exp, nbf, iat }: Claims, now: number): Finding[] {
  const LEEWAY = 60;
  return [
    typeof exp !== "number" ? bad("noExpiry") : exp > now ? good("inTime") : bad("expired"),
    ...(typeof nbf === "number" && nbf > now + LEEWAY ? [bad("notYet")] : []),
    ...(typeof iat === "number" && iat > now + LEEWAY ? [warn("fromTheFuture")] : []),
  ];
}

function tokenOwners(kind: TokenKind, { client_id, aud, azp, sub }: Claims) {
  const named = kind === "access" ? client_id : (azp ?? aud);
  const applicationId = uuidClaim(named);
  const userId = uuidClaim(sub);
  return {
    ...(applicationId === undefined ? {} : { applicationId }),
    // The subject of a client credentials token is the client.
    ...(userId === undefined || userId === applicationId ? {} : { userId }),
  };
}

const uuidClaim = (value: unknown): string | undefined =>
  typeof value === "string" && isUuid(value) ? value.toLowerCase() : undefined;

/** Only for a token whose signature, issuer and times are valid. */
async function checkRevocation(
  deps: JwtDeps,
  organisation: Organisation,
  { token, kind, payload }: { token: string; kind: TokenKind; payload: Claims },
): Promise<Finding[]> {
  if (kind === "id") return [good("statement")];
  if (kind !== "access") return [];
  const claims = await deps.accessTokens.read(organisation, token);
  if (!claims) return [bad("notAccepted")];
  if (await deps.accessTokens.activeScopes(organisation, claims)) return [good("active")];
  return [await findReason(deps, organisation.id, payload)];
}

async function findReason(deps: JwtDeps, orgId: string, { jti, device_id }: Claims): Promise<Finding> {
  const { query } = deps.database;
  const deviceId = uuidClaim(device_id);
  const device = deviceId === undefined ? undefined : await findDevice(query, orgId, deviceId);
  if (deviceId !== undefined && device?.revokedAt !== null) return bad("deviceRevoked");
  const familyId = typeof jti === "string" ? familyIdFromTokenId(jti) : undefined;
  if (familyId === undefined) return bad("revoked");
  const family = await findTokenFamily(query, orgId, familyId);
  return family && family.revokedAt === null ? bad("revoked") : bad("signInEnded");
}
