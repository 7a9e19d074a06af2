// Runs a script in CommonJS, and keeps what V8 has compiled of it. Node's own compile cache keeps a file as it is before it runs: each of
// its functions is then compiled once more at every start. What is kept here is made after a while, with the functions that were called.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";

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

/** Before the code: its checksum. V8 has one and does not look at it, and ends the process on what a crash of the machine left of a file. */
const HEAD_BYTES = 8;

/** @returns {Buffer | undefined} nothing where there is none, or it is damaged */
function readKept(kept) {
  try {
    const whole = readFileSync(kept);
    const code = whole.subarray(HEAD_BYTES);
    return whole.readUInt32LE(0) === crc32(code) ? code : undefined;
  } catch {
    return undefined;
  }
}

function withChecksum(code) {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(crc32(code));
  return Buffer.concat([head, code]);
}

function keepLater(script, kept) {
  let isKept = false;
  const keep = () => {
    if (isKept) return;
    isKept = true;
    const draft = `${kept}.${process.pid}`;
    try {
      writeFileSync(draft, withChecksum(script.createCachedData()));
      renameSync(draft, kept);
    } catch {
      // The next start compiles it again.
    }
  };
  // A server that is killed has left it too.
  setTimeout(keep, KEEP_AFTER_MS).unref();
  process.once("exit", keep);
}
