/**
 * Ends the processes that a test file has started when the test file itself is ended before it could, by a time limit or
 * by Ctrl-C. A small shell waits on a pipe from here; when the pipe closes, it kills by its id whatever is still listed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

const script = `
while read -r change pid; do
  case $change in
    started) pids="$pids $pid" ;;
    ended)
      rest=
      for one in $pids; do [ "$one" = "$pid" ] || rest="$rest $one"; done
      pids=$rest ;;
  esac
done
[ -z "$pids" ] || kill -KILL $pids`;

let guard: ChildProcess | undefined;

/** From now on the process does not outlive this one. */
export function guardProcess(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  guard ??= startGuard();
  tell(guard, `started ${pid}`);
  child.once("exit", () => guard && tell(guard, `ended ${pid}`));
}

function startGuard(): ChildProcess {
  // A group of its own, so that Ctrl-C in a terminal reaches the tests and not the guard.
  const shell = spawn("/bin/sh", ["-c", script], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  shell.stdin?.on("error", () => {});
  shell.unref();
  (shell.stdin as unknown as Socket).unref();
  return shell;
}

function tell(shell: ChildProcess, line: string): void {
  shell.stdin?.write(`${line}\n`);
}
