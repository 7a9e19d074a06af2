/** Long-polling calls: they end when the caller disconnects or the server stops. */
import type { FastifyReply } from "fastify";

export interface HeldCalls {
  /** Aborts when the call must no longer wait. */
  signalFor(reply: FastifyReply): AbortSignal;
  endAll(): void;
}

/** The reason of an abort; the default would be an error with a stack trace. */
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
