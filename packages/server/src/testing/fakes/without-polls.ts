import { mock } from "node:test";

/** What is opened here never polls: only a call between nodes can wake it. */
export async function withoutPolls<T>(open: () => Promise<T>): Promise<T> {
  mock.timers.enable({ apis: ["setInterval"] });
  try {
    return await open();
  } finally {
    mock.timers.reset();
  }
}
