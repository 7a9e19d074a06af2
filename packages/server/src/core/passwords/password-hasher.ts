/**
 * Argon2id behind a bounded queue. A hash costs tens of milliseconds of CPU and 19 MiB: without a bound, many sign-ins would
 * starve the token endpoint. Organisations share the queue fairly; a full one rejects immediately.
 */
import { availableParallelism } from "node:os";
import * as nodeArgon2 from "@node-rs/argon2";
import { randomSecret } from "@signet/protocol/hash";
import { histogram, level } from "../../telemetry/families.ts";
import { inSpan } from "../../telemetry/tracing.ts";
import { fairPlaces, NoPlaceLeft } from "../fair-places.ts";
import { rateLimitRefusals } from "../rate-limits/refusals.ts";
import { isForeignHash, isWhole, verifyForeignHash } from "./foreign-hashes.ts";

/** OWASP's second recommended setting; stored in each hash, so that they can be raised later. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 } as const;

/** A hash takes some 30 ms: the last of them waits about two seconds, and nobody waits longer for a page. */
const MAX_WAITING = 64;

const waited = histogram({
  name: "signet_password_queue_wait_seconds",
  help: "Time that passwords wait for their turn to be hashed",
});
const depth = level({ name: "signet_password_queue_depth", help: "Passwords that wait to be hashed" }).at();
const refused = rateLimitRefusals.at("password-queue");

export class PasswordQueueFull extends Error {
  readonly retryAfterSeconds = 2;
  constructor() {
    super("the password queue is full");
    this.name = "PasswordQueueFull";
    refused.value++;
  }
}

export interface PasswordHasher {
  /** @param orgId in whose turn. @throws PasswordQueueFull */
  hash(password: string, orgId: string): Promise<string>;
  /**
   * An undefined hash takes the same time and is false: an unknown account looks like a wrong password. Hashes that were imported
   * from other products (`foreign-hashes.ts`) wait in the same queue, and need a rehash.
   */
  verify(passwordHash: string | undefined, password: string, orgId: string): Promise<boolean>;
  /**
   * Whether the hash has other parameters than the current ones, and the password that it has verified may be hashed anew in its
   * place.
   */
  needsRehash(passwordHash: string, password: string): boolean;
}

export interface PasswordHasherOptions {
  readonly concurrency?: number;
  readonly maxWaiting?: number;
  /** Replaced by tests. */
  readonly argon2?: Pick<typeof nodeArgon2, "hash" | "verify">;
}

export function createPasswordHasher(options: PasswordHasherOptions = {}): PasswordHasher {
  const { hash, verify } = options.argon2 ?? nodeArgon2;
  const concurrency = options.concurrency ?? defaultConcurrency();
  const maxWaiting = options.maxWaiting ?? MAX_WAITING;
  const places = fairPlaces({ all: concurrency, each: concurrency, waiting: maxWaiting });
  const expected = `$argon2id$v=19$m=${parameters.memoryCost},t=${parameters.timeCost},p=${parameters.parallelism}$`;
  let decoy: Promise<string> | undefined;

  const queue = async <T>(orgId: string, work: () => Promise<T>): Promise<T> => {
    const since = performance.now();
    depth.value++;
    const leave = await inSpan("password queue wait", places.take, orgId, undefined)
      .catch((error: unknown) => {
        throw error instanceof NoPlaceLeft ? new PasswordQueueFull() : error;
      })
      .finally(() => depth.value--);
    waited.observe((performance.now() - since) / 1_000);
    try {
      return await work();
    } finally {
      leave();
    }
  };

  const verifyAny = async (stored: string, password: string): Promise<boolean> => {
    if (isForeignHash(stored)) return verifyForeignHash(stored, password);
    const normalised = normalise(password);
    if (await verify(stored, normalised)) return true;
    // Other products hash what was typed: an imported argon2 hash may be of that.
    return normalised !== password && verify(stored, password);
  };

  return {
    hash: (password, orgId) => queue(orgId, () => hash(normalise(password), parameters)),
    verify: (passwordHash, password, orgId) =>
      queue(orgId, async () => {
        decoy ??= hash("no account has this password", parameters);
        const matches = await verifyAny(passwordHash ?? (await decoy), password);
        return passwordHash !== undefined && matches;
      }),
    needsRehash: (passwordHash, password) =>
      !passwordHash.startsWith(expected) && isWhole(passwordHash, password),
  };
}

/** Leaves a CPU for everything else, and two of libuv's four threads for signatures. */
export const defaultConcurrency = (): number => Math.max(1, Math.min(availableParallelism() - 1, 2));

/** Equivalent Unicode input is the same password (NIST SP 800-63B-4 §3.1.1.2). */
const normalise = (password: string): string => password.normalize("NFKC");

/** A password for a user: at least 120 bits, and the minimum length of the organisation. */
export function generatePassword({ passwordMinLength }: { readonly passwordMinLength: number }): string {
  // Four characters for three bytes.
  return randomSecret("", Math.max(15, Math.ceil((passwordMinLength * 3) / 4)));
}

/** Hashes a password before a transaction begins, so that the transaction stays short. */
export async function withPrecomputedHash(
  passwords: PasswordHasher,
  password: string | undefined,
  orgId: string,
): Promise<PasswordHasher> {
  if (password === undefined) return passwords;
  const hash = await passwords.hash(password, orgId);
  return {
    ...passwords,
    hash: async (other, whose) => (other === password ? hash : passwords.hash(other, whose)),
  };
}
