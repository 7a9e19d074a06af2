/**
 * Idempotent requests (wire-contract.md §5): a client that lost the response sends the request again without performing it
 * twice. The response is stored in the transaction of the act, so that neither exists without the other. Failed requests
 * change nothing and are not stored.
 */
import { boundTo, type Database } from "../../db/open.ts";
import type { CoreDeps } from "../core-deps.ts";
import {
  findRequest,
  type RequestKey,
  releaseRequest,
  reserveRequest,
  type StoredAnswer,
  storeAnswer,
} from "./idempotency.store.ts";

const KEPT_MS = 24 * 3_600_000;
/** Longer than any request runs. */
const ABANDONED_MS = 60_000;

export class IdempotencyConflict extends Error {
  readonly code: "another-request" | "under-way";
  constructor(code: IdempotencyConflict["code"]) {
    super(
      code === "under-way" ? "the first request is still running" : "the key was used for another request",
    );
    this.name = "IdempotencyConflict";
    this.code = code;
  }
}

/**
 * @param act performs the request in the given transaction and nowhere else
 * @param toStored the part of the response that is replayed
 * @throws IdempotencyConflict, and whatever `act` throws
 */
export async function runIdempotent<A>(
  deps: CoreDeps,
  request: RequestKey & { readonly requestHash: string },
  act: (within: Database) => Promise<A>,
  toStored: (answer: A) => StoredAnswer,
): Promise<{ readonly first: A } | { readonly stored: StoredAnswer }> {
  const { database, clock } = deps;
  const now = clock();
  const times = { now, expiresAt: now + KEPT_MS, abandonedBefore: now - ABANDONED_MS };
  if (!(await reserveRequest(database.query, { ...request, ...times }))) {
    const known = await findRequest(database.query, request);
    if (known && known.requestHash !== request.requestHash) throw new IdempotencyConflict("another-request");
    if (!known?.answer) throw new IdempotencyConflict("under-way");
    return { stored: known.answer };
  }
  const reserved = { ...request, reservedAt: now };
  try {
    return await database.transaction(async (tx) => {
      const first = await act(boundTo(database, tx));
      if (!(await storeAnswer(tx, reserved, toStored(first)))) throw new IdempotencyConflict("under-way");
      return { first };
    });
  } catch (error) {
    // If this fails too, the reservation counts as abandoned after a minute.
    await releaseRequest(database.query, reserved).catch(() => {});
    throw error;
  }
}
