/** `Idempotency-Key` on POST, for each caller (api-v1.md, "Every resource"). */
import { sha256Base64url } from "@signet/protocol/hash";
import type { CoreDeps } from "../../../core/core-deps.ts";
import { IdempotencyConflict, runIdempotent } from "../../../core/idempotency/idempotency.ts";
import type { Database } from "../../../db/open.ts";
import type { Answer, ApiRequest, Run } from "../../../http/api/api-route.ts";
import {
  answerToKeep,
  idempotencyRefusal,
  keyedRequestHash,
  readIdempotencyKey,
  replayedAnswer,
} from "../../../http/api/idempotent-answer.ts";

interface Identified {
  readonly id: string;
}

interface Caller {
  readonly home: Identified;
  readonly client: Identified;
  readonly user: Identified | undefined;
}

/** @throws ApiError 400, 409 under-way, 422 key-reused, and what the act throws: a refusal is not kept */
export async function runOnce(
  deps: CoreDeps,
  { home, client, user }: Caller,
  { request, raw, run }: { request: ApiRequest; raw: Buffer; run: Run<Database> },
): Promise<Answer> {
  const key = readIdempotencyKey(request);
  if (key === undefined) return run();
  const idempotent = {
    orgId: home.id,
    // Two users of one client must not be given each other's answers.
    accountId: user ? `${client.id}:${user.id}` : client.id,
    keyHash: sha256Base64url(key),
    requestHash: keyedRequestHash(key, request, raw),
  };
  const outcome = await runIdempotent(deps, idempotent, run, answerToKeep).catch((error: unknown) => {
    throw error instanceof IdempotencyConflict ? idempotencyRefusal(error.code) : error;
  });
  return "first" in outcome ? outcome.first : replayedAnswer(outcome.stored);
}
