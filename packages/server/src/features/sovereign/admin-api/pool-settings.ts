/** The settings of a signing pool: defaults, limits and validation (sovereign-signing.md §2). */
import { type AgentAlg, isAgentAlg } from "@signet/protocol/agent-signature";
import { rootFault } from "@signet/protocol/certificates/x5c-chain";
import { certificateInPem, pemOfCertificate } from "@signet/protocol/der/pem";
import { issuerModes, type SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { CodedError } from "../../../http/coded-error.ts";

export interface NewPool {
  readonly name: string;
  readonly algs: readonly string[];
  readonly maxTokenLifetimeSeconds: number;
  readonly issuerMode?: string;
  readonly tokenWaitSeconds?: number;
  readonly keyPublishDelaySeconds?: number;
  readonly maxPending?: number;
  readonly trustedRoots?: readonly string[];
  readonly requireX5c?: boolean;
}

export const poolDefaults = {
  tokenWaitSeconds: 8,
  keyPublishDelaySeconds: 600,
  maxPending: 500,
} as const;

/** An organisation's pools are cached together. */
export const MAX_POOLS = 50;
export const MAX_ROOTS = 10;
const DAY_SECONDS = 86_400;

/** Minimum and maximum. The wait for a token must end before its HTTP request times out (server-bounds.ts). */
export const poolLimits = {
  maxTokenLifetimeSeconds: [60, DAY_SECONDS],
  tokenWaitSeconds: [1, 20],
  keyPublishDelaySeconds: [0, 7 * DAY_SECONDS],
  maxPending: [1, 10_000],
} as const satisfies Partial<Record<keyof NewPool, readonly [number, number]>>;

/** What can be changed; the issuer mode can't. */
export type PoolSettings = Omit<
  SigningPool,
  "orgId" | "id" | "issuerMode" | "createdAt" | "createdBy" | "updatedAt" | "disabledAt" | "version"
>;

/** Fills in the defaults. @throws CodedError 400 or 422 that names the member */
export async function checkPoolSettings(input: NewPool, now: number): Promise<PoolSettings> {
  const { trustedRoots = [], requireX5c = false, maxTokenLifetimeSeconds } = input;
  requireValid(input);
  await requireTrustedRoots(trustedRoots, now);
  return {
    name: input.name.trim(),
    algs: input.algs as readonly AgentAlg[],
    maxTokenLifetimeSeconds,
    tokenWaitSeconds: input.tokenWaitSeconds ?? poolDefaults.tokenWaitSeconds,
    keyPublishDelaySeconds: input.keyPublishDelaySeconds ?? poolDefaults.keyPublishDelaySeconds,
    maxPending: input.maxPending ?? poolDefaults.maxPending,
    // Only the certificate is stored: the rest of the file is unchecked.
    trustedRoots: trustedRoots.map((pem) => pemOfCertificate(certificateInPem(pem))),
    requireX5c,
  };
}

/** @throws CodedError 400 */
export function requireName(name: string): string {
  const trimmed = name.trim();
  // Control and bidirectional characters could disguise a name.
  if (trimmed === "" || [...trimmed].length > 100 || /[\p{Cc}\p{Cf}\u2028\u2029]/u.test(trimmed))
    throw invalid("name must be 1 to 100 plain characters");
  return trimmed;
}

const invalid = (description: string) => new CodedError(400, "invalid_request", description);

function requireValid(input: NewPool): void {
  requireName(input.name);
  const { algs, issuerMode, trustedRoots = [], requireX5c = false } = input;
  if (algs.length === 0 || new Set(algs).size < algs.length)
    throw invalid("algs must list at least one algorithm, each once");
  const unknown = algs.find((alg) => !isAgentAlg(alg));
  if (unknown !== undefined)
    throw new CodedError(422, "unsupported_alg", "algs must be some of ES256, ES384, PS256, RS256, EdDSA");
  for (const [name, [min, max]] of Object.entries(poolLimits))
    requireRange(name, input[name as keyof typeof poolLimits] ?? min, min, max);
  if (issuerMode !== undefined && !issuerModes.some((mode) => mode === issuerMode))
    throw invalid(`issuerMode must be one of ${issuerModes.join(", ")}`);
  if (requireX5c && trustedRoots.length === 0) throw invalid("requireX5c requires trustedRoots");
}

/** @throws CodedError 400 */
async function requireTrustedRoots(trustedRoots: readonly string[], now: number): Promise<void> {
  if (trustedRoots.length > MAX_ROOTS) throw invalid(`trustedRoots has at most ${MAX_ROOTS} certificates`);
  for (const [index, pem] of trustedRoots.entries()) {
    if (/PRIVATE KEY/i.test(pem)) throw privateKeyPresent(`trustedRoots[${index}]`);
    const fault = await rootFault(pem, now);
    if (fault) throw invalid(`trustedRoots[${index}] ${fault}`);
  }
}

const privateKeyPresent = (at: string) =>
  new CodedError(
    400,
    "private_key_material",
    `${at} contains a private key: it is compromised, replace the certificate authority's key`,
  );

function requireRange(name: string, value: number, min: number, max: number): void {
  if (!Number.isInteger(value) || value < min || value > max)
    throw invalid(`${name} must be a whole number from ${min} to ${max}`);
}
