/** Calls that wait for something: they end with their connection, and when the node stops. */
import type { FastifyReply } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { InOrganisation } from "../../../http/organisation-lookup.ts";

export type Call = InOrganisation<Organisation>;

export type HeldCalls = ReturnType<typeof heldCalls>;

/** The reason of an abort; the default would be an error with a stack trace. */
const GONE = "gone";

export function heldCalls() {
  const controllers = new Set<AbortController>();
  let isStopping = false;
  return {
    /** Aborts when the call must no longer wait. */
    signalFor: ({ raw }: FastifyReply): AbortSignal => {
      const controller = new AbortController();
      controllers.add(controller);
      raw.once("close", () => {
        controllers.delete(controller);
        controller.abort(GONE);
      });
      if (isStopping || raw.destroyed) controller.abort(GONE);
      return controller.signal;
    },
    endAll: (): void => {
      isStopping = true;
      for (const controller of controllers) controller.abort(GONE);
    },
  };
}
