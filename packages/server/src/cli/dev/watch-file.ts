/** Calls back when a file has changed, one call after the other. Editors replace files, so that the folder is what is watched. */
import { watch } from "node:fs";
import path from "node:path";

/** An editor writes in several steps. */
const SETTLE_MS = 100;

/** @returns stops watching, and waits for a call that runs */
export function watchFile(file: string, changed: () => Promise<void>): () => Promise<void> {
  const name = path.basename(file);
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const watcher = watch(path.dirname(path.resolve(file)), (_event, seen) => {
    if (seen !== null && seen !== name) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = running.then(changed);
    }, SETTLE_MS);
  });
  return async () => {
    clearTimeout(timer);
    watcher.close();
    await running;
  };
}
