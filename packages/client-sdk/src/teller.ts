/** How the SDK calls `onError`. */
import type { Runtime } from "./filter.ts";

/**
 * What an application's log does wrong must neither change an answer nor end the process: failures are often told where nobody
 * waits for them any more.
 */
export function teller(onError: Runtime["onError"]): (error: Error) => void {
  return (error) => {
    try {
      // An async function fits the type as well, and its rejection would be nobody's.
      Promise.resolve(onError?.(error)).catch(() => {});
    } catch {
      // There is nobody left to tell.
    }
  };
}
