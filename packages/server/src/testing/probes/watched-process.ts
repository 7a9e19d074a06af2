/**
 * A server process that ends when this process does. It runs under a small shell that waits on a pipe from here. When the
 * pipe closes, because `stop` was called or because this process died of whatever cause, the shell shuts the server
 * down and removes its folder.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";

export type WatchedOptions = {
  command: string[];
  /** Working folder of the server, removed after its end. */
  folder: string;
  user: { uid: number; gid: number } | undefined;
  environment: NodeJS.ProcessEnv;
};

export type WatchedProcess = {
  /** Of the shell: the server and its processes are below it. */
  pid: number;
  /** Waits until the process writes `words` to standard error. Rejects with what it wrote when it ends before. */
  said(words: string): Promise<void>;
  /** From here on this process may exit with the server still running, which then ends too. */
  letProcessExit(): void;
  /** Ends the server and waits for its end; does nothing the second time. */
  stop(): Promise<void>;
};

// Arguments: the folder, then the server's command line. Standard input is kept as 3, since a shell gives its background
// commands an empty one. SIGINT is PostgreSQL's fast shutdown.
const watchScript = `
folder=$1; shift
exec 3<&0
"$@" </dev/null 3<&- & server=$!
{ cat <&3; kill -INT "$server"; } >/dev/null 2>&1 & watcher=$!
wait "$server"; status=$?
kill "$watcher" 2>/dev/null
cd /; rm -rf "$folder"
exit "$status"`;

export function startWatched({ command, folder, user, environment }: WatchedOptions): WatchedProcess {
  const child = spawn("/bin/sh", ["-c", watchScript, "signet-watch", folder, ...command], {
    cwd: folder,
    env: environment,
    stdio: ["pipe", "ignore", "pipe"],
    // A group of its own, so that Ctrl-C in a terminal ends the tests first and the server through the pipe.
    detached: true,
    ...user,
  });
  const log = collectLog(child);
  return {
    pid: child.pid ?? 0,
    said: (words) => waitForWords(child, log, words),
    letProcessExit: () => {
      child.unref();
      for (const stream of [child.stdin, child.stderr]) (stream as unknown as Socket).unref();
    },
    stop: () => stop(child),
  };
}

/** Keeps reading what the process says, as a full pipe would stop it; holds the last few thousand characters. */
export function collectLog(child: ChildProcess): { text: string } {
  const log = { text: "" };
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    log.text = (log.text + text).slice(-4000);
  });
  return log;
}

function waitForWords(child: ChildProcess, log: { text: string }, words: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = () => {
      if (log.text.includes(words)) resolve();
    };
    look();
    child.stderr?.on("data", look);
    child.once("error", reject);
    child.once("exit", (code) => {
      child.stdin?.destroy();
      reject(new Error(`the server ended with ${code}: ${log.text}`));
    });
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const ended = once(child, "exit");
  child.stdin?.end();
  await ended;
}
