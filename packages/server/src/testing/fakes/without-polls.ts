import { mock } from "node:test";

/** Disables polling, so that only a notification between nodes wakes a wait. */
export async function disablePolling<T>(open: () => Promise<T>): Promise<T> {
  mock.timers.enable({ apis: ["setInterval"] });
  try {
    return await open();
  } finally {
    mock.timers.reset();
  }
}
