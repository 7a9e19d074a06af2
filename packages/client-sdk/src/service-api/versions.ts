/** Records with optimistic locking: read with their version, and changed only if nobody was faster (RFC 9110 §13.1.1). */
import { SignetError } from "../errors.ts";
import type { CallOptions } from "./typed-client.ts";

/** A record as it was read. */
export type Versioned<Item> = Item & {
  /** The version: if sent with a change, the change is rejected (`stale`) if the record has changed since. */
  readonly etag: string;
};

/** Options of a call that creates something. */
export interface RepeatOptions extends CallOptions {
  /** 1 to 255 characters; for a day, calls with the same key get the same response, without secrets. Default: unique. */
  readonly idempotencyKey?: string | undefined;
}

/** Options of a call that deletes. */
export interface DeleteOptions extends CallOptions {
  /** Deletes the record only if it is unchanged. */
  readonly etag?: string | undefined;
}

export const repeatable = ({ idempotencyKey = crypto.randomUUID() }: RepeatOptions) => ({
  headers: { "idempotency-key": idempotencyKey },
});

/** @throws SignetError `provider_answer` without an entity tag */
export function versioned<Item>({ body, headers }: { body: unknown; headers: Headers }): Versioned<Item> {
  const etag = headers.get("etag");
  if (etag === null) throw new SignetError("provider_answer", "The service's response has no ETag.");
  // Compressing proxies such as nginx weaken the service's strong tags, and If-Match never matches a weak one.
  return { ...(body as Item), etag: etag.replace(/^W\//, "") };
}

export const ifMatch = (etag: string | undefined): Record<string, string> =>
  etag === undefined ? {} : { "if-match": etag };

const MAX_UPDATE_ATTEMPTS = 5;

/** Starts over when somebody else was faster, but not for ever. @param write changes the version that was read */
export async function updated<Item>(
  read: () => Promise<Versioned<Item>>,
  write: (current: Versioned<Item>) => Promise<Versioned<Item>>,
): Promise<Versioned<Item>> {
  for (let attempt = 1; ; attempt++) {
    const current = await read();
    try {
      return await write(current);
    } catch (error) {
      const isStale = error instanceof SignetError && error.problem?.code === "stale";
      if (!isStale || attempt === MAX_UPDATE_ATTEMPTS) throw error;
    }
  }
}
