/**
 * The last resort: an error that nobody caught, thrown or rejected, stops the server in order instead of at once, because
 * every organisation's requests are under way in it. The process exits with 1, so that its supervisor starts it again.
 */
import { describeError } from "./describe-error.ts";
import type { Log } from "./log.ts";

export interface LastResort {
  /** Resolves with the logged reason to stop. */
  readonly stopRequested: Promise<string>;
  hasFailed(): boolean;
  /** Leaves uncaught errors to Node again. */
  end(): void;
}

/** Longer than a graceful stop takes: whatever still hangs then ends with the process. */
const MAX_STOP_MS = 15_000;

/** @param exit for tests */
export function watchUncaughtErrors(
  log: Pick<Log, "fatal" | "flush">,
  { maxStopMs = MAX_STOP_MS, exit = (code: number): void => process.exit(code) } = {},
): LastResort {
  const { promise: stopRequested, resolve: stop } = Promise.withResolvers<string>();
  let deadline: NodeJS.Timeout | undefined;
  // Rejections that nobody handles come here too: Node's default for them is to throw.
  const fail = (error: unknown) => {
    // Only the first is logged: the others may be its consequences, and may be many.
    if (deadline) return;
    deadline = setTimeout(() => {
      log.flush();
      exit(1);
    }, maxStopMs).unref();
    log.fatal(describeError(error), "uncaught error: stopping");
    stop("uncaught error");
  };
  process.on("uncaughtException", fail);
  return {
    stopRequested,
    hasFailed: () => deadline !== undefined,
    end: () => void process.off("uncaughtException", fail),
  };
}
