/**
 * Requests that their caller names, so that a lost answer can be asked for again without doing the thing twice
 * (wire-contract.md §5). The answer is kept in the transaction of the act: there is never one without the other, and
 * whoever died in between has done nothing. What is refused is not kept: it has done nothing either.
 */
import { boundTo, type Database } from "../../db/open.ts";
import type { Clock } from "../clock.ts";
import {
  findRequest,
  type KeptAnswer,
  keepAnswer,
  type RequestKey,
  releaseRequest,
  reserveRequest,
} from "./idempotency.store.ts";

export const KEPT_MS = 24 * 3_600_000;
/** Longer than any request lasts. */
export const ABANDONED_MS = 60_000;

export class RequestNotRepeatable extends Error {
  readonly code: "another-request" | "under-way";
  constructor(code: RequestNotRepeatable["code"]) {
    super(code === "under-way" ? "the first request is under way" : "the key was used for another request");
    this.name = "RequestNotRepeatable";
    this.code = code;
  }
}

export interface NamedRequest extends RequestKey {
  readonly requestHash: string;
}

export type FirstOrKept<A> = { readonly first: A } | { readonly kept: KeptAnswer };

/**
 * @param act does it, within the database that it is given and nothing else
 * @param keep what of its answer is given again
 * @throws RequestNotRepeatable, and whatever `act` throws
 */
export async function onlyOnce<A>(
  deps: { readonly database: Database; readonly clock: Clock },
  request: NamedRequest,
  act: (within: Database) => Promise<A>,
  keep: (answer: A) => KeptAnswer,
): Promise<FirstOrKept<A>> {
  const { database, clock } = deps;
  const now = clock();
  const times = { now, expiresAt: now + KEPT_MS, abandonedBefore: now - ABANDONED_MS };
  if (!(await reserveRequest(database.query, { ...request, ...times }))) {
    const known = await findRequest(database.query, request);
    if (known && known.requestHash !== request.requestHash) throw new RequestNotRepeatable("another-request");
    if (!known?.answer) throw new RequestNotRepeatable("under-way");
    return { kept: known.answer };
  }
  const reserved = { ...request, reservedAt: now };
  try {
    return await database.transaction(async (tx) => {
      const first = await act(boundTo(database, tx));
      if (!(await keepAnswer(tx, reserved, keep(first)))) throw new RequestNotRepeatable("under-way");
      return { first };
    });
  } catch (error) {
    // Left behind, it is taken for abandoned in a minute.
    await releaseRequest(database.query, reserved).catch(() => {});
    throw error;
  }
}
