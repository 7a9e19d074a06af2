/** Nonces for DPoP proofs, which prove that one is recent (RFC 9449 §9), and the detection of replays (§11.1). */
import { base64url } from "jose";
import { configurationError, SignetError } from "../errors.ts";
import type { Runtime } from "../filter.ts";

/** Nonces an API requires in DPoP proofs, see `createDpopNonces`. */
export interface DpopNonces {
  /** The nonce to use now. */
  current(): Promise<string>;
  /** Whether it was issued here, and recently. */
  accepts(nonce: string): Promise<boolean>;
}

/** Options of `createDpopNonces`. */
export interface DpopNonceOptions extends Pick<Runtime, "clock"> {
  /** At least 32 random bytes, base64url; the same for every instance. */
  readonly secret: string;
  /** A nonce is accepted for this long, and up to twice as long. Default 300. */
  readonly lifetimeSeconds?: number;
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

/** Several instances behind one URL need a shared one, e.g. `SET key 1 NX PX keepMs` in Redis. */
export interface ReplayMemory {
  /**
   * Stores `id` and says whether it is new, in one atomic step.
   * @param id base64url, at most 43 characters
   * @param keepMs how long to remember it, in milliseconds
   * @returns false if `id` is already known
   */
  isFirst(id: string, keepMs: number): boolean | Promise<boolean>;
}

/** Options of `createReplayMemory`. */
export interface ReplayMemoryOptions extends Pick<Runtime, "clock"> {
  /** Maximum number of entries. Default 200,000, about 30 MB. */
  readonly most?: number;
}

const DEFAULT_MAX_ENTRIES = 200_000;

/** An in-process memory. When full, it rejects new proofs: forgetting one would allow its replay. */
export function createReplayMemory(options: ReplayMemoryOptions = {}): ReplayMemory {
  const { clock = Date.now, most = DEFAULT_MAX_ENTRIES } = options;
  /** In insertion order; with a constant `keepMs`, the oldest expire first. */
  const expiries = new Map<string, number>();
  const forgetExpired = (now: number) => {
    for (const [id, until] of expiries) {
      if (until > now) return;
      expiries.delete(id);
    }
  };
  return {
    isFirst: (id, keepMs) => {
      const now = clock();
      forgetExpired(now);
      const until = expiries.get(id);
      if (until !== undefined && until > now) return false;
      if (expiries.size >= most)
        throw new SignetError("token_not_proven", "Too many proofs. Retry later.", { status: 503 });
      expiries.delete(id);
      expiries.set(id, now + keepMs);
      return true;
    },
  };
}
