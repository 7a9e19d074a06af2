/**
 * Answers that the server has not closed yet. A client may have read the whole of one before the server hears that it is
 * sent, which is when its line of the request log is written.
 */
import type { Server, ServerResponse } from "node:http";
import { eventually } from "./eventually.ts";

export interface OpenAnswers {
  /** Until every answer is closed. @throws after five seconds */
  ended(): Promise<void>;
}

export function watchOpenAnswers(server: Server): OpenAnswers {
  const open = new Set<ServerResponse>();
  server.prependListener("request", (_, response) => {
    open.add(response);
    response.once("close", () => open.delete(response));
  });
  return { ended: () => eventually("every answer is closed", () => open.size === 0, 5_000) };
}
