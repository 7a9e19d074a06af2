/** Records that several people change: read with their version, and replaced only when nobody was faster (RFC 9110 §13.1.1). */
import { SignetError } from "../errors.ts";
import type { CallOptions } from "../service-api/typed-client.ts";

/** A record as it was read. */
export type Versioned<Item> = Item & {
  /** Of this version: handed back with a change, it is refused (`stale`) when somebody else has made one. */
  readonly etag: string;
};

/** A record as it was read, with changes: null means that a member is absent, and read-only members are ignored. */
export type Replacement<Body> = { readonly [Member in keyof Body]: Body[Member] | null } & {
  readonly etag?: string | undefined;
};

/** Of a call that makes something. */
export interface RepeatOptions extends CallOptions {
  /**
   * Names what is to be made, 1 to 255 characters: for a day the same answer again, without secrets. Default: one of its own
   * for each call, so that only the client's own repetitions share it.
   */
  readonly idempotencyKey?: string | undefined;
}

/** Of a call that deletes. */
export interface DeleteOptions extends CallOptions {
  /** Delete it only as it was read. */
  readonly etag?: string | undefined;
}

/** @throws SignetError `provider_answer` without an entity tag */
export function versioned<Item>({ body, headers }: { body: Item; headers: Headers }): Versioned<Item> {
  const etag = headers.get("etag");
  if (etag === null) throw new SignetError("provider_answer", "The service's answer names no version.");
  // The service's tags are strong. A proxy that compresses makes weak ones of them (nginx does), which no If-Match fits.
  return { ...body, etag: etag.replace(/^W\//, "") };
}

/** The body and the header of a replacement. */
export function replacing<Body>({ etag, ...body }: Replacement<Body>) {
  return { body: body as Body, headers: matching(etag) };
}

export const matching = (etag: string | undefined): Record<string, string> =>
  etag === undefined ? {} : { "if-match": etag };

export const repeatable = ({ idempotencyKey = crypto.randomUUID() }: RepeatOptions) => ({
  headers: { "idempotency-key": idempotencyKey },
});

const MOST_ROUNDS = 5;

type Get<Item> = (id: string, options?: CallOptions) => Promise<Versioned<Item>>;
type Replace<Item, Body> = (
  id: string,
  body: Replacement<Body>,
  options?: CallOptions,
) => Promise<Versioned<Item>>;
type Update<Item, Body> = (
  id: string,
  change: (item: Versioned<Item>) => Replacement<Body> | Promise<Replacement<Body>>,
  options?: CallOptions,
) => Promise<Versioned<Item>>;

/** Reads, changes and replaces, again when somebody else was faster: `stale` is thrown after five rounds. */
export function updating<Item, Body>(get: Get<Item>, replace: Replace<Item, Body>): Update<Item, Body> {
  return async (id, change, options) => {
    for (let round = 1; ; round++) {
      const before = await get(id, options);
      const wanted = await change(before);
      try {
        // The version that was read, whatever the change has made of it.
        return await replace(id, { ...wanted, etag: before.etag }, options);
      } catch (error) {
        const isStale = error instanceof SignetError && error.problem?.code === "stale";
        if (!isStale || round === MOST_ROUNDS) throw error;
      }
    }
  };
}
