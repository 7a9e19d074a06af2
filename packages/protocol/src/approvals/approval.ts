/**
 * Approvals of a signing pool's agents (threshold-and-ledger.md §1): what an agent says of the bytes that another one will sign, as a
 * compact JWS by its own registered key. It is no token: nobody takes a JWS of this type for one (RFC 8725 §3.11).
 */
import {
  type AgentAlg,
  type AgentVerificationKey,
  checkAgentSignature,
  isAgentAlg,
} from "../agent-signature.ts";
import { sha256Base64url } from "../hash.ts";

export const APPROVAL_TYPE = "sovereign-approval+jwt";

/** Agents whose approval one signature may need, the one that signs among them. */
export const MAX_APPROVALS = 9;

export interface ApprovalClaims {
  /** The issuer of the tokens. */
  readonly iss: string;
  /** The signing request. */
  readonly request: string;
  /** SHA-256 of each signing input, base64url, by use. */
  readonly inputs: Readonly<Record<string, string>>;
  /** How many signatures and approvals the agent's journal has, this one among them. */
  readonly count: number;
  /** Seconds since the epoch. */
  readonly iat: number;
  /** The newest checkpoint of the organisation's ledger that the agent believes. */
  readonly ledger?: { readonly size: number; readonly root: string };
}

export interface Approval {
  readonly kid: string;
  readonly alg: AgentAlg;
  readonly claims: ApprovalClaims;
  readonly signingInput: string;
  readonly signature: string;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** What the agent signs: members in this order, without spaces. */
export function approvalInput(key: Pick<Approval, "kid" | "alg">, claims: ApprovalClaims): string {
  const { iss, request, inputs, count, iat, ledger } = claims;
  const sorted = Object.fromEntries(Object.entries(inputs).sort(([one], [other]) => (one < other ? -1 : 1)));
  const payload = { iss, request, inputs: sorted, count, iat, ...(ledger && { ledger }) };
  return `${encode({ alg: key.alg, kid: key.kid, typ: APPROVAL_TYPE })}.${encode(payload)}`;
}

/** An ML-DSA-87 signature has 4,627 bytes. */
const MAX_LENGTH = 8_192;

/** @returns undefined for anything but the one spelling of an approval; the signature is not verified */
export function parseApproval(jws: string): Approval | undefined {
  const parts = jws.length > MAX_LENGTH ? [] : jws.split(".");
  const [header = "", payload = "", signature = ""] = parts;
  if (parts.length !== 3) return undefined;
  const { alg, kid } = objectIn(header);
  const claims = objectIn(payload) as unknown as ApprovalClaims;
  if (!isAgentAlg(alg) || typeof kid !== "string" || !areClaims(claims)) return undefined;
  const signingInput = `${header}.${payload}`;
  return approvalInput({ alg, kid }, claims) === signingInput
    ? { alg, kid, claims, signingInput, signature }
    : undefined;
}

function objectIn(part: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const isHash = (value: unknown): boolean => typeof value === "string" && /^[\w-]{43}$/.test(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

function areClaims({ iss, request, inputs, count, iat, ledger }: ApprovalClaims): boolean {
  const hashes = typeof inputs === "object" && inputs !== null ? Object.values(inputs) : [];
  if (typeof iss !== "string" || typeof request !== "string" || hashes.length === 0) return false;
  if (!hashes.every(isHash) || !isCount(count) || !isCount(iat)) return false;
  return ledger === undefined || (ledger !== null && isCount(ledger.size) && isHash(ledger.root));
}

/** Whether the key has signed it; of another algorithm than the key's, it has not. */
export const isApprovalBy = (
  { alg, signingInput, signature }: Approval,
  key: AgentVerificationKey,
): boolean => alg === key.alg && checkAgentSignature(key, signingInput, signature) === "good";

/** Whether it is about these bytes, all of them and no others. */
export function approvesInputs({ claims }: Approval, inputs: Readonly<Record<string, string>>): boolean {
  const uses = Object.keys(inputs);
  return (
    uses.length === Object.keys(claims.inputs).length &&
    uses.every((use) => Object.hasOwn(claims.inputs, use) && claims.inputs[use] === inputs[use])
  );
}

/** As the ledger's entry names it. */
export const approvalHash = (jws: string): string => sha256Base64url(jws);
