/** Calls that are held until there is something to answer: they end when their caller goes away, or the server stops. */
import type { FastifyReply } from "fastify";

export interface HeldCalls {
  /** Aborted when the wait has lost its meaning. */
  signalFor(reply: FastifyReply): AbortSignal;
  endAll(): void;
}

/** Left out, each end of a call would make an error with a stack that nobody reads. */
const GONE = "gone";

export function heldCalls(): HeldCalls {
  const held = new Set<AbortController>();
  let isStopping = false;
  return {
    signalFor: ({ raw }) => {
      const gone = new AbortController();
      held.add(gone);
      raw.once("close", () => {
        held.delete(gone);
        gone.abort(GONE);
      });
      if (isStopping || raw.destroyed) gone.abort(GONE);
      return gone.signal;
    },
    endAll: () => {
      isStopping = true;
      for (const one of held) one.abort(GONE);
    },
  };
}
