/** Nonces for DPoP proofs (RFC 9449 §9): they prove a proof is recent, whatever the caller's clock says. */
import { base64url } from "jose";
import { configurationError } from "../errors.ts";

/** Nonces an API requires in DPoP proofs, see `createDpopNonces`. */
export interface DpopNonces {
  /** The nonce to use now. */
  current(): Promise<string>;
  /** Whether it was issued here, and recently. */
  accepts(nonce: string): Promise<boolean>;
}

/** Options of `createDpopNonces`. */
export interface DpopNonceOptions {
  /** At least 32 random bytes, base64url; the same for every instance. */
  readonly secret: string;
  /** A nonce is accepted for this long, and up to twice as long. Default 300. */
  readonly lifetimeSeconds?: number;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

const MIN_SECRET_BYTES = 32;

/**
 * Nonces derived from the time and a secret: nothing is stored, and instances with the same secret accept each other's. A proof
 * without one is rejected with a fresh nonce in the `DPoP-Nonce` header, and the caller retries.
 * @throws SignetError `configuration` if the secret is too short or the lifetime isn't positive
 * @example
 * const filter = oauthUserBearer(configuration, { dpopNonces: createDpopNonces({ secret }) });
 */
export function createDpopNonces(options: DpopNonceOptions): DpopNonces {
  const { lifetimeSeconds = 300, clock = Date.now } = options;
  const secret = decodeSecret(options.secret);
  if (!(lifetimeSeconds > 0)) throw configurationError("The lifetime of nonces must be positive.");
  let imported: Promise<CryptoKey> | undefined;
  const nonceAt = async (step: number): Promise<string> => {
    imported ??= crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    const text = new TextEncoder().encode(`signet dpop nonce ${step}`);
    return base64url.encode(new Uint8Array(await crypto.subtle.sign("HMAC", await imported, text)));
  };
  const currentStep = () => Math.floor(clock() / 1000 / lifetimeSeconds);
  return {
    current: () => nonceAt(currentStep()),
    accepts: async (nonce) => {
      const step = currentStep();
      return nonce === (await nonceAt(step)) || nonce === (await nonceAt(step - 1));
    },
  };
}

function decodeSecret(text: string): Uint8Array<ArrayBuffer> {
  const bytes = /^[A-Za-z0-9_-]+$/.test(text) ? new Uint8Array(base64url.decode(text)) : new Uint8Array();
  if (bytes.length < MIN_SECRET_BYTES)
    throw configurationError("The secret for nonces must be at least 32 bytes in base64url.");
  return bytes;
}
