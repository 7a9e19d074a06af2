import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Ready, Reply } from "./child-side.ts";

/** A child process of the bench that answers questions (see child-side.ts). */
export type Child<Q, A> = {
  port: number;
  pid: number;
  ask: (question: Q, seconds: number) => Promise<A>;
  end: () => void;
};

const children = new Set<ChildProcess>();
const startSeconds = 60;
const stopSeconds = 5;

/** Starts a file of this folder as a process of its own; rejects when it ends or is not ready within 30 seconds. */
export async function startChild<Q, A>(file: string, args: readonly string[]): Promise<Child<Q, A>> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = killAtEnd(
    fork(path, args, {
      env: { ...process.env, NODE_ENV: "production" },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    }),
  );
  const [ready] = (await within(startSeconds, `${file} to be ready`, firstOf(child, "message"))) as [Ready];
  let lastId = 0;
  const ask = async (question: Q, seconds: number): Promise<A> => {
    lastId += 1;
    const id = lastId;
    const reply = replyTo<A>(child, id);
    child.send({ id, question });
    return within(seconds, `an answer of ${file}`, reply);
  };
  return { port: ready.port, pid: child.pid ?? 0, ask, end: () => child.kill() };
}

/** Has a process killed at the end of the bench, whatever that end is. Gives it back. */
export function killAtEnd(child: ChildProcess): ChildProcess {
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

/** Asks every child to end, and kills what is still there five seconds later. */
export async function stopChildren(): Promise<void> {
  const ended = [...children].map((child) => once(child, "exit"));
  for (const child of children) child.kill("SIGTERM");
  await within(stopSeconds, "the children to end", Promise.all(ended)).catch(killChildren);
}

/** Kills every child at once; synchronous, so that it works in an exit handler as well. */
export function killChildren(): void {
  for (const child of children) child.kill("SIGKILL");
}

/** The outcome of `work`, or an error that says what was waited for when it takes longer. */
export async function within<T>(seconds: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${seconds} s for ${what}`)), seconds * 1000);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The first event of that name; rejects when the process ends before it. */
async function firstOf(child: ChildProcess, event: string): Promise<unknown[]> {
  const settled = new AbortController();
  const { signal } = settled;
  const ended = once(child, "exit", { signal }).then(([code]) => {
    throw new Error(`process ${child.pid} ended with ${code}`);
  });
  try {
    return await Promise.race([once(child, event, { signal }), ended]);
  } finally {
    ended.catch(() => undefined);
    settled.abort();
  }
}

function replyTo<A>(child: ChildProcess, id: number): Promise<A> {
  const outcome = Promise.withResolvers<A>();
  const onMessage = (reply: Reply<A>) => {
    if (reply.id !== id) return;
    forget();
    if ("fault" in reply) outcome.reject(new Error(reply.fault));
    else outcome.resolve(reply.answer);
  };
  const onExit = () => {
    forget();
    outcome.reject(new Error(`process ${child.pid} ended`));
  };
  const forget = () => {
    child.off("message", onMessage);
    child.off("exit", onExit);
  };
  child.on("message", onMessage);
  child.on("exit", onExit);
  return outcome.promise;
}
