/** Calls into code that the application supplies: `onError`, shared stores, key look-ups. */
import { SignetError } from "./errors.ts";
import type { Runtime } from "./filter.ts";

/** Wraps `onError`: a failing log neither changes a response nor ends the process with an unhandled rejection. */
export function errorReporter(onError: Runtime["onError"]): (error: Error) => void {
  return (error) => {
    try {
      // An async function fits the type too; its rejection would be unhandled.
      Promise.resolve(onError?.(error)).catch(() => {});
    } catch {
      // Nobody left to tell.
    }
  };
}

/** @throws SignetError `provider_unreachable` (503) on failure: an unchecked caller isn't let in, and may retry */
export async function callApplication<T>(what: string, call: () => T | Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (cause instanceof SignetError) throw cause;
    throw new SignetError("provider_unreachable", `${what} is unavailable.`, { cause });
  }
}
