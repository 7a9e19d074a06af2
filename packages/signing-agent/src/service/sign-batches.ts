/** Signatures that are ready at the same time go to the service in one call, and its answer brings the next requests. */
import type { Lease } from "./calls-in-trace.ts";
import {
  type BatchAnswer,
  type ClaimedRequest,
  MAX_BATCH,
  MAX_BATCH_BYTES,
  type SignAnswer,
  type Signed,
  type SignedJwts,
  type SigningService,
} from "./signing-service.ts";

interface BatchOptions {
  readonly service: Pick<SigningService, "sign" | "signBatch">;
  /** @param freed places that the signed requests leave */
  nextClaim(freed: number): NextClaim | undefined;
  /** Called before the signatures' own answers are given out. */
  onClaimed(requests: readonly ClaimedRequest[]): void;
}

interface NextClaim {
  readonly kids: readonly string[];
  readonly max: number;
  /** Called when the answer is there, or none comes. */
  release(): void;
}

interface Waiting extends Signed {
  readonly answer: PromiseWithResolvers<SignAnswer>;
}

export type SignBatches = ReturnType<typeof signBatches>;

export function signBatches({ service, nextClaim, onClaimed }: BatchOptions) {
  let isSupported = false;
  let waiting: Waiting[] = [];

  async function submit(batch: readonly Waiting[]): Promise<void> {
    const claim = nextClaim(batch.length);
    let answer: BatchAnswer;
    try {
      const asked = claim && { kids: claim.kids, max: claim.max };
      answer = await service.signBatch(batch, asked).finally(claim?.release);
    } catch (error) {
      for (const one of batch) one.answer.reject(error);
      return;
    }
    if (answer.outcome === "unsupported") {
      isSupported = false;
      for (const one of batch) one.answer.resolve(service.sign(one));
      return;
    }
    if (answer.requests.length > 0) onClaimed(answer.requests.slice(0, claim?.max ?? 0));
    for (const [index, one] of batch.entries()) {
      const result = answer.results[index];
      if (result) one.answer.resolve(result);
    }
  }

  function submitAll(): void {
    const all = waiting;
    waiting = [];
    for (const batch of batchesOf(all)) void submit(batch);
  }

  return {
    /** Known from the service's last answer to a claim. */
    setSupported: (supported: boolean): void => {
      isSupported = supported;
    },
    isSupported: (): boolean => isSupported,
    /** Rejects as the call of its batch does: with CallFailed or ServiceError. */
    sign: (lease: Lease, jwts: SignedJwts, approval?: string): Promise<SignAnswer> => {
      if (!isSupported) return service.sign({ lease, jwts, approval });
      if (waiting.length === 0) setImmediate(submitAll);
      const answer = Promise.withResolvers<SignAnswer>();
      waiting.push({ lease, jwts, approval, answer });
      return answer.promise;
    },
  };
}

/** Of its JSON: names, quotes and commas. */
const LEASE_SYNTAX = 64;

/** As few as the limits allow. */
function batchesOf(all: readonly Waiting[]): Waiting[][] {
  const batches: Waiting[][] = [];
  let bytes = 0;
  for (const one of all) {
    const size =
      JSON.stringify(one.jwts).length +
      (one.approval?.length ?? 0) +
      one.lease.requestId.length +
      one.lease.leaseToken.length +
      LEASE_SYNTAX;
    const last = batches.at(-1);
    const isFull = !last || last.length >= MAX_BATCH || bytes + size > MAX_BATCH_BYTES;
    if (isFull) batches.push([one]);
    else last.push(one);
    bytes = isFull ? size : bytes + size;
  }
  return batches;
}
