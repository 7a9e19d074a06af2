// Runs a script in CommonJS, and keeps what V8 has compiled of it. Node's own compile cache keeps a file as it is before it runs: each of
// its functions is then compiled once more at every start. What is kept here is made after a while, with the functions that were called.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";

/** By then a server is ready. */
const KEEP_AFTER_MS = 5_000;

/**
 * @param {string} file ASCII alone
 * @param {{ from: string, kept: string }} options whose libraries it finds; where what is compiled is kept
 * @returns {unknown} what it exports
 */
export function runScript(file, { from, kept }) {
  const text = readFileSync(file, "latin1");
  const cachedData = readKept(kept);
  const script = new Script(`(function (exports, require, module) {${text}\n})`, {
    filename: pathToFileURL(file).href,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  if (cachedData === undefined || script.cachedDataRejected) keepLater(script, kept);
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(from), module);
  return module.exports;
}

function readKept(kept) {
  try {
    return readFileSync(kept);
  } catch {
    return undefined;
  }
}

function keepLater(script, kept) {
  let isKept = false;
  const keep = () => {
    if (isKept) return;
    isKept = true;
    const draft = `${kept}.${process.pid}`;
    try {
      writeFileSync(draft, script.createCachedData());
      renameSync(draft, kept);
    } catch {
      // The next start compiles it again.
    }
  };
  // A server that is killed has left it too.
  setTimeout(keep, KEEP_AFTER_MS).unref();
  process.once("exit", keep);
}
