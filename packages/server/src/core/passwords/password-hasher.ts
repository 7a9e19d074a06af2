/**
 * Argon2id behind a bounded queue. A hash takes tens of milliseconds of a processor and 19 MiB: without a bound, a rush
 * of sign-ins would take all processors from the token endpoint. What does not fit into the queue is told at once.
 */
import { availableParallelism } from "node:os";
import * as nodeArgon2 from "@node-rs/argon2";

/** OWASP's second recommended setting; the parameters are part of the hash, so that they can be raised later. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 } as const;

export class PasswordQueueFull extends Error {
  readonly retryAfterSeconds = 2;
  constructor() {
    super("too many password checks are waiting");
    this.name = "PasswordQueueFull";
  }
}

export interface PasswordHasher {
  /** @throws PasswordQueueFull */
  hash(password: string): Promise<string>;
  /** With an undefined hash it takes the same time and is false: an unknown account looks like a wrong password. */
  verify(passwordHash: string | undefined, password: string): Promise<boolean>;
  /** Whether the hash was made with weaker parameters than today's. */
  needsRehash(passwordHash: string): boolean;
}

export interface PasswordHasherOptions {
  /** Hashes under way at once. */
  readonly concurrency?: number;
  readonly maxWaiting?: number;
  /** Does the work; a test looks at what it is asked. */
  readonly argon2?: Pick<typeof nodeArgon2, "hash" | "verify">;
}

export function createPasswordHasher(options: PasswordHasherOptions = {}): PasswordHasher {
  const { hash, verify } = options.argon2 ?? nodeArgon2;
  const concurrency = options.concurrency ?? defaultConcurrency();
  const queue = boundedQueue(concurrency, options.maxWaiting ?? 64);
  const expected = `$argon2id$v=19$m=${parameters.memoryCost},t=${parameters.timeCost},p=${parameters.parallelism}$`;
  let decoy: Promise<string> | undefined;

  return {
    hash: (password) => queue(() => hash(normalise(password), parameters)),
    verify: (passwordHash, password) =>
      queue(async () => {
        decoy ??= hash("no account has this password", parameters);
        const matches = await verify(passwordHash ?? (await decoy), normalise(password));
        return passwordHash !== undefined && matches;
      }),
    needsRehash: (passwordHash) => !passwordHash.startsWith(expected),
  };
}

/**
 * One processor is left for everything else, and two of libuv's four threads: signatures are made there too, and must
 * not wait behind passwords.
 */
export const defaultConcurrency = (): number => Math.max(1, Math.min(availableParallelism() - 1, 2));

/** The same characters typed on two keyboards are the same password (NIST SP 800-63B-4 §3.1.1.2). */
const normalise = (password: string): string => password.normalize("NFKC");

function boundedQueue(concurrency: number, maxWaiting: number) {
  const waiting: Array<() => void> = [];
  let running = 0;
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= concurrency) {
      if (waiting.length >= maxWaiting) throw new PasswordQueueFull();
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running++;
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
