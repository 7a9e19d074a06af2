/** Sender-constrained tokens (RFC 7800): proof of possession by client certificate (RFC 8705 §3) or DPoP (RFC 9449 §7). */
import { sha256Base64url } from "../base64url.ts";
import { SignetError } from "../errors.ts";
import { type Claims, isRecord } from "../tokens/claims.ts";
import { type DpopExpectations, verifyDpopProof } from "./dpop-proof.ts";

/** The proof a request presents. */
export interface ProofOfPossession {
  readonly presented: PresentedToken;
  /** DER. */
  readonly clientCertificate: Uint8Array | undefined;
  readonly dpopProof: string | null;
  /** Undefined without a configured base URL: proofs name the URL they are for. */
  readonly dpop: Omit<DpopExpectations, "accessToken" | "thumbprint"> | undefined;
}

/** What every token of an API must be bound to. */
export type SenderConstraint = (typeof senderConstraints)[number];
export const senderConstraints = ["none", "dpop", "mtls", "any"] as const;

/** Whether the token names what it must be bound to; `checkTokenBinding` has it proven. @throws SignetError `token_not_proven` */
export function requireConstraint({ cnf }: Claims, constraint: SenderConstraint = "none"): void {
  const names = isRecord(cnf) ? Object.keys(cnf) : [];
  const [isOfKey, isOfCertificate] = [names.includes("jkt"), names.includes("x5t#S256")];
  if (constraint === "dpop" && !isOfKey)
    throw notProven("The API takes tokens that are bound to a DPoP key.");
  if (constraint === "mtls" && !isOfCertificate)
    throw notProven("The API takes tokens that are bound to a client certificate.");
  if (constraint === "any" && !isOfKey && !isOfCertificate)
    throw notProven("The API takes tokens that are bound to a key or a certificate.");
}

const supportedBindings: readonly string[] = ["x5t#S256", "jkt"];

/** Unknown or empty bindings are rejected: ignored, they would make it a bearer token. @throws SignetError `token_not_proven` */
export async function checkTokenBinding(claims: Claims, proof: ProofOfPossession): Promise<void> {
  const { scheme } = proof.presented;
  const cnf = claims["cnf"];
  if (cnf === undefined) {
    // RFC 9449 §7.1: a sender of a proof relies on the token being bound to it.
    if (scheme === "dpop") throw notProven("The token is not bound to a key.");
    return;
  }
  if (!isRecord(cnf)) throw notProven("The token's cnf claim is invalid.");
  const names = Object.keys(cnf);
  if (names.length === 0 || !names.every((name) => supportedBindings.includes(name)))
    throw notProven("The token has an unsupported binding.");
  if (names.includes("x5t#S256")) await checkCertificate(cnf["x5t#S256"], proof.clientCertificate);
  if (names.includes("jkt")) await checkKey(cnf["jkt"], proof);
  else if (scheme === "dpop") throw notProven("The token is not bound to a DPoP key.");
}

async function checkCertificate(thumbprint: unknown, der: Uint8Array | undefined): Promise<void> {
  if (der === undefined || thumbprint !== (await sha256Base64url(der)))
    throw notProven("The token is bound to another certificate.");
}

async function checkKey(
  thumbprint: unknown,
  { presented, dpopProof, dpop }: ProofOfPossession,
): Promise<void> {
  // RFC 9449 §7.2: a stolen token sent as a bearer token must not bypass the proof.
  if (presented.scheme !== "dpop") throw notProven("The token is bound to a key and needs a DPoP proof.");
  if (typeof thumbprint !== "string") throw notProven("The token's cnf claim is invalid.");
  if (dpop === undefined)
    throw notProven(
      "Proofs of possession are not accepted here.",
      new Error("DPoP needs `baseUrl` in the configuration: proofs name the URL they are for"),
    );
  await verifyDpopProof(dpopProof, { ...dpop, accessToken: presented.token, thumbprint });
}

const notProven = (message: string, cause?: Error) => new SignetError("token_not_proven", message, { cause });

export interface PresentedToken {
  /** `dpop`: comes with a proof of possession. */
  readonly scheme: "bearer" | "dpop";
  readonly token: string;
}

/** RFC 6750 §2.1 `b64token`, RFC 9110 §11.2: one case-insensitive scheme, and one token. */
const wellFormed = /^(bearer|dpop) +([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * Tokens in queries and forms are ignored: URLs end up in logs and histories (RFC 6750 §2.3, RFC 9700 §4.3.2).
 * @throws SignetError `request_malformed` for a malformed header of these schemes, `token_missing` for another scheme
 */
export function readBearerToken(request: Request): PresentedToken | undefined {
  const header = request.headers.get("authorization");
  if (header === null) return undefined;
  const [, scheme, token] = wellFormed.exec(header) ?? [];
  if (scheme !== undefined && token !== undefined)
    return { scheme: scheme.toLowerCase() === "dpop" ? "dpop" : "bearer", token };
  // Includes repeated headers, which are joined with a comma.
  if (/^(?:bearer|dpop)\b/i.test(header))
    throw new SignetError("request_malformed", "The Authorization header is malformed.");
  throw new SignetError("token_missing", "The request has no access token.");
}
