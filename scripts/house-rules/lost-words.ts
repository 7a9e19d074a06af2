/** Names that docs/glossary.md decided against: in identifiers of code and in file names, one word per concept. */

import { type HouseRule, lineAt } from "./fault.ts";
import { codeText } from "./source/code-text.ts";

/** A word of a name, and what the glossary calls it. */
const lostWords: Readonly<Record<string, string>> = {
  crowd: "a wait queue",
  door: "an authenticator, a guard or a port",
  lapse: "expiry",
  mends: "sanitize",
  rouse: "notify",
  scene: "a fixture",
  standing: "status",
  strangers: "unauthenticated",
  surroundings: "a context",
  whoever: "the role",
};

/** Whole names that a renaming replaced. */
const lostNames: Readonly<Record<string, string>> = {
  comesIn: "authorize",
  doubtAll: "markAllStale",
  goodOnce: "requireFreshNonce",
  isForLooking: "readOnlyAllowed",
  isInItsHands: "hasValidBinding",
  isKeptOut: "isDenied",
  keptSeal: "reauthenticationToken",
  lackingProof: "missingAuthenticationRequirement",
  lacksAnything: "failsLoginPolicy",
  mendQuery: "sanitizeQuery",
  nameClient: "identifyClient",
  noteSecretUse: "recordSecretUse",
  openPatient: "openWithoutTimeout",
  overFor: "redirectIfDone",
  proveClient: "authenticateClient",
  provenAdministrator: "requireRecentAuthentication",
  requireGood: "requireUsable",
  requireSeen: "requireVersion",
  waitsAgain: "resetToPending",
  whoIsThere: "currentSession",
  whoWatches: "peekSession",
};

const IDENTIFIER = /[A-Za-z_$][\w$]*/g;
const WORD = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g;

const wordsOf = (name: string): string[] => (name.match(WORD) ?? []).map((word) => word.toLowerCase());

/** What the glossary says of a name, or undefined when the name is fine. */
export function lostWord(name: string): string | undefined {
  const replacement = Object.hasOwn(lostNames, name) ? lostNames[name] : undefined;
  if (replacement !== undefined) return `${name} is called ${replacement}`;
  // `standing` alone is a member of what `device show` and `status --json` print.
  const lost = name === "standing" ? undefined : wordsOf(name).find((word) => Object.hasOwn(lostWords, word));
  return lost === undefined ? undefined : `${name}: the glossary says ${lostWords[lost]}, not ${lost}`;
}

export const glossaryNames: HouseRule = (files) =>
  files
    .filter(({ path }) => path.endsWith(".ts") && !path.startsWith("scripts/house-rules/lost-words"))
    .flatMap(({ path, text }) => {
      const fileName = lostWord(path.split("/").at(-1)?.replace(/\..*$/, "") ?? "");
      const faults =
        fileName === undefined ? [] : [{ file: path, line: 1, rule: "glossary", message: fileName }];
      const code = codeText(text);
      for (const { 0: name, index } of code.matchAll(IDENTIFIER)) {
        const message = lostWord(name);
        if (message !== undefined)
          faults.push({ file: path, line: lineAt(text, index), rule: "glossary", message });
      }
      return faults;
    });
