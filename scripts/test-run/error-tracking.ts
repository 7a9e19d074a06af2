/**
 * Uncaught errors of the test files that share a process. To know whose each one is, node:test follows every promise of the process, a tenth
 * of the processor time of all tests; Node's own context, which costs nothing, knows the test as well.
 */
import { type AsyncHook, AsyncLocalStorage, createHook } from "node:async_hooks";
import { tracingChannel } from "node:diagnostics_channel";

/** What node:test calls the whole process, which it says to start last. */
const ROOT = "<root>";

/** What node:test publishes when it starts a test or a suite. */
interface Started {
  readonly name: string;
  readonly type: "test" | "suite";
  readonly nesting: number;
}

/**
 * To be called before the first suite. While the tests of a file are declared, node:test needs its own way: by it a test finds its
 * suite. From its first test on an uncaught error ends the process, as a failure that names the test.
 * @returns what to call before each file
 */
export function trackErrorsCheaply(): { declaring(): void } {
  const hook = nextEnabledHook();
  const running = new AsyncLocalStorage<object>();
  const { start } = tracingChannel("node.test");
  start.bindStore(running);
  let isTracking = false;
  let isDeclaring = true;
  const end = (error: unknown) => endWith(error, running.getStore() as Started | undefined);
  start.subscribe((message) => {
    const started = message as Started;
    if (started.type !== "test") return;
    // Every file is a suite: outside them is what was declared too late, without its suite's hooks.
    if (started.nesting === 0 && started.name !== ROOT)
      endWith(new Error("declared after the first test has started"), started);
    if (!isDeclaring) return;
    isDeclaring = false;
    hook()?.disable();
    if (!isTracking) process.on("uncaughtException", end).on("unhandledRejection", end);
    isTracking = true;
  });
  return {
    declaring: () => {
      isDeclaring = true;
      hook()?.enable();
    },
  };
}

/** node:test has its hook to itself; all hooks share a prototype. */
function nextEnabledHook(): () => AsyncHook | undefined {
  const hooks = Object.getPrototypeOf(createHook({})) as AsyncHook;
  const { enable } = hooks;
  let enabled: AsyncHook | undefined;
  hooks.enable = function remember(this: AsyncHook) {
    enabled = this;
    hooks.enable = enable;
    return enable.call(this);
  };
  return () => enabled;
}

function endWith(error: unknown, started: Started | undefined): never {
  console.error(`Uncaught in ${started?.type === "test" ? `the test "${started.name}"` : "no test"}:`, error);
  process.exit(1);
}
