/**
 * Tokens that are bound to a key (RFC 7800): good only in the hands of who proves to hold it, by its TLS certificate
 * (RFC 8705 §3) or by a DPoP proof (RFC 9449 §7).
 */
import { SignetError } from "../errors.ts";
import { type Claims, isRecord } from "../tokens/claims.ts";
import type { BearerCredentials } from "./credentials.ts";
import { checkDpopProof, type DpopExpectations } from "./dpop-proof.ts";
import { sha256Base64url } from "./sha256.ts";

/** What the request shows. */
export interface Presented {
  readonly credentials: BearerCredentials;
  /** DER. */
  readonly clientCertificate: Uint8Array | undefined;
  /** The `DPoP` header. */
  readonly proof: string | null;
  /** Undefined where our own address is not configured: then no proof can be held against it. */
  readonly dpop: Omit<DpopExpectations, "accessToken" | "thumbprint"> | undefined;
}

const bindings: readonly string[] = ["x5t#S256", "jkt"];

/**
 * Checks every binding that the token has. One that is not known here, or is none at all, is refused: to pass over it would
 * make a bearer token of a token that was meant to be more.
 *
 * @param claims of a token that has been verified
 * @throws SignetError `token_not_proven`
 */
export async function checkConfirmation(claims: Claims, presented: Presented): Promise<void> {
  const { scheme } = presented.credentials;
  const cnf = claims["cnf"];
  if (cnf === undefined) {
    // RFC 9449 §7.1: who sends a proof relies on the token being bound to it.
    if (scheme === "dpop") throw new SignetError("token_not_proven", "The token is bound to no key.");
    return;
  }
  if (!isRecord(cnf)) throw new SignetError("token_not_proven", "The token's binding cannot be read.");
  const names = Object.keys(cnf);
  if (names.length === 0 || !names.every((name) => bindings.includes(name)))
    throw new SignetError("token_not_proven", "The token is bound in a way that is not supported.");
  if (names.includes("x5t#S256")) await checkCertificate(cnf["x5t#S256"], presented.clientCertificate);
  if (names.includes("jkt")) await checkKey(cnf["jkt"], presented);
  else if (scheme === "dpop")
    throw new SignetError("token_not_proven", "The token is bound to no key of a proof.");
}

async function checkCertificate(thumbprint: unknown, der: Uint8Array | undefined): Promise<void> {
  if (der === undefined || thumbprint !== (await sha256Base64url(der)))
    throw new SignetError("token_not_proven", "The token is bound to another certificate.");
}

async function checkKey(thumbprint: unknown, { credentials, proof, dpop }: Presented): Promise<void> {
  // RFC 9449 §7.2: sent as a bearer token, a stolen one would pass where the proof is not looked for.
  if (credentials.scheme !== "dpop")
    throw new SignetError("token_not_proven", "The token is bound to a key and comes without its proof.");
  if (typeof thumbprint !== "string")
    throw new SignetError("token_not_proven", "The token's binding cannot be read.");
  if (dpop === undefined)
    throw new SignetError("token_not_proven", "Proofs of a key are not accepted here.", {
      cause: new Error("DPoP needs `baseUrl` in the configuration: proofs name the address they are for"),
    });
  await checkDpopProof(proof, { ...dpop, accessToken: credentials.token, thumbprint });
}
