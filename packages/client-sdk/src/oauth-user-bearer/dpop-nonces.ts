/**
 * Nonces for DPoP proofs (RFC 9449 §9): a proof with one was made lately, whatever the caller's clock says, and not in store
 * for later. They are made from the time and a secret, so that nothing is kept and several instances accept each other's.
 */
import { base64url } from "jose";
import { SignetError } from "../errors.ts";

/** Nonces that an API demands in DPoP proofs, see `createDpopNonces`. */
export interface DpopNonces {
  /** The one to use now. */
  current(): Promise<string>;
  /** Whether it is one of ours, and recent. */
  accepts(nonce: string): Promise<boolean>;
}

/** What `createDpopNonces` needs. */
export interface DpopNonceOptions {
  /** 32 random bytes or more, base64url; the same for every instance. */
  readonly secret: string;
  /** A nonce is good for this long, and up to twice as long. Default 300. */
  readonly lifetimeSeconds?: number;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

const LEAST_SECRET_BYTES = 32;

/**
 * Nonces that are made from the time and a secret: nothing is kept, and several instances accept each other's. A proof without
 * one is refused with a fresh one in the header `DPoP-Nonce`, and the caller proves again.
 *
 * @throws SignetError `configuration` when the secret is too short or the lifetime is none
 * @example
 * const filter = oauthUserBearer(configuration, { dpopNonces: createDpopNonces({ secret }) });
 */
export function createDpopNonces(options: DpopNonceOptions): DpopNonces {
  const { lifetimeSeconds = 300, clock = Date.now } = options;
  const secret = secretOf(options.secret);
  if (!(lifetimeSeconds > 0))
    throw new SignetError("configuration", "The lifetime of a nonce is not positive.");
  let imported: Promise<CryptoKey> | undefined;
  const nonceAt = async (step: number): Promise<string> => {
    imported ??= crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    const text = new TextEncoder().encode(`signet dpop nonce ${step}`);
    return base64url.encode(new Uint8Array(await crypto.subtle.sign("HMAC", await imported, text)));
  };
  const stepNow = () => Math.floor(clock() / 1000 / lifetimeSeconds);
  return {
    current: () => nonceAt(stepNow()),
    accepts: async (nonce) => {
      const step = stepNow();
      return nonce === (await nonceAt(step)) || nonce === (await nonceAt(step - 1));
    },
  };
}

function secretOf(text: string): Uint8Array<ArrayBuffer> {
  const bytes = /^[A-Za-z0-9_-]+$/.test(text) ? new Uint8Array(base64url.decode(text)) : new Uint8Array();
  if (bytes.length < LEAST_SECRET_BYTES)
    throw new SignetError("configuration", "The secret for nonces is not 32 bytes or more in base64url.");
  return bytes;
}
