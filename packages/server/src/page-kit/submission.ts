/** A form of the console that was sent: whether it may do what it says, and what the record was when its sender saw it. */
import { createHash } from "node:crypto";
import { consoleFrame } from "./console-frame.ts";
import { type NotTaken, received, type Submission } from "./sent-form.ts";
import { administratorHere, type ConsoleDeps, consolePath, type Visit } from "./visit.ts";

export type { Submission } from "./sent-form.ts";

/**
 * @param path where a browser comes back to that has to sign in first
 * @param again shows the form again with what was typed, 403, when it is none of ours, too old, or no text
 * @returns undefined when the answer has been sent. @throws OAuthError 403 for who is no administrator, and for another site
 */
export function submission(
  deps: ConsoleDeps,
  visit: Visit,
  path: string,
  again: (submission: Submission, failure: NotTaken) => Promise<void>,
): Promise<Submission | undefined> {
  return received(deps, visit, {
    comesIn: () => administratorHere(deps, visit, path),
    // Nothing in a form of the console has to be typed once more.
    again: (sent, failure = "expired") => again(sent, failure),
    proof: {
      frame: (signedIn) => consoleFrame(deps, visit, signedIn, undefined),
      signInUri: consolePath(visit.organisation, "/confirm-identity"),
    },
  });
}

/**
 * What a record is like, for a form to carry along: another text when a member is another.
 * @param record its editable members; or its version, where it has one
 */
export function seenOf(record: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(sorted(record)))
    .digest("base64url")
    .slice(0, 22);
}

/** An array becomes its members by their places; what is undefined is left out of JSON anyway. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sorted(member)]));
}

/** Somebody else changed the record since the form was made; thrown within the transaction, so that nothing is done. */
export class ChangedMeanwhile extends Error {
  constructor() {
    super("somebody else has changed the record meanwhile");
    this.name = "ChangedMeanwhile";
  }
}

/** @throws ChangedMeanwhile */
export function requireSeen(seen: string | undefined, record: unknown): void {
  if (seen !== seenOf(record)) throw new ChangedMeanwhile();
}
