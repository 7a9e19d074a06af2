// Runs before every npm script, on whatever Node the machine has (20 and later), so that `npm start` and `npm test`
// work from a fresh clone: it installs when the install is missing or is not what package-lock.json says.
// Plain JavaScript without dependencies, because nothing is installed yet when it matters.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync, statSync, utimesSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const lockFile = path.join(root, "package-lock.json");
const installedLockFile = path.join(root, "node_modules", ".package-lock.json");
const binFolder = path.join(root, "node_modules", ".bin");
const nodeBinary = path.join(binFolder, "node");

if (!isInstalled()) install();

/** @returns {boolean} whether node_modules is complete and is what package-lock.json says */
function isInstalled() {
  if (!existsSync(installedLockFile) || !nodeRuns()) return false;
  if (statSync(lockFile).mtimeMs <= statSync(installedLockFile).mtimeMs) return true;
  // A checkout gives the lock file a new time without changing a word of it: 0.1 s here saves 20 s of installing.
  if (!installMatchesLock()) return false;
  settle();
  return true;
}

function nodeRuns() {
  if (!existsSync(nodeBinary)) return false;
  if (realpathSync(nodeBinary) === realpathSync(process.execPath)) return true;
  return spawnSync(nodeBinary, ["--version"], { stdio: "ignore" }).status === 0;
}

/** npm keeps in node_modules/.package-lock.json the entries it has installed, word for word as in package-lock.json. */
function installMatchesLock() {
  const locked = JSON.parse(readFileSync(lockFile, "utf8")).packages;
  const installed = JSON.parse(readFileSync(installedLockFile, "utf8")).packages;
  const changed = Object.keys(installed).some(
    (folder) => JSON.stringify(installed[folder]) !== JSON.stringify(locked[folder]),
  );
  // Only the packages of other platforms may be absent, and the root itself, which is the entry "".
  const missing = Object.keys(locked).some(
    (folder) => folder !== "" && !mayBeAbsent(locked[folder]) && installed[folder] === undefined,
  );
  return !changed && !missing;
}

function mayBeAbsent(entry) {
  return Boolean(entry.optional || entry.devOptional);
}

function install() {
  console.log("Installing the packages of package-lock.json (npm ci) …");
  const [command, ...firstArguments] = npmCommand();
  // --loglevel=error: the packages ask for Node 24 and get it from this very install, a warning would only mislead.
  const options = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status, error } = spawnSync(command, [...firstArguments, ...options], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, PATH: pathWithoutOwnBin() },
  });
  if (error || status !== 0) {
    console.error(`npm ci failed${error ? `: ${error.message}` : ` with exit code ${status}`}.`);
    process.exit(status || 1);
  }
  if (!nodeRuns()) {
    console.error(
      "npm ci left no working node_modules/.bin/node: is `ignore-scripts` set? " +
        "The install scripts listed under `allowScripts` in package.json must run.",
    );
    process.exit(1);
  }
  settle();
}

/** The npm that called us, on the Node it runs on; else the npm of the PATH. */
function npmCommand() {
  const { npm_execpath: npm, npm_node_execpath: node } = process.env;
  if (npm && node && path.basename(npm) === "npm-cli.js" && !isOwn(node)) return [node, npm];
  return ["npm"];
}

/** `npm ci` removes node_modules, so it must not run on the node in there. */
function pathWithoutOwnBin() {
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  return folders.filter((folder) => !isOwn(folder)).join(path.delimiter);
}

function isOwn(file) {
  return path.resolve(file).startsWith(path.join(root, "node_modules") + path.sep);
}

/** Makes the next comparison of times say "installed", also when the lock file's time lies in the future. */
function settle() {
  const time = new Date(Math.max(Date.now(), Math.ceil(statSync(lockFile).mtimeMs)));
  utimesSync(installedLockFile, time, time);
}
