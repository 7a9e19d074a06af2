/** A form that was sent: whether it is ours, whether its sender has proven enough, and what the record was when they saw it. */
import { createHash } from "node:crypto";
import { OAuthError } from "@signet/protocol/oauth-error";
import { lackingProof } from "../core/second-factors/fresh-proof.ts";
import type { SignedIn } from "../core/sessions/session.ts";
import { provePage } from "../html/console/act.page.ts";
import { formOf } from "../http/form-body.ts";
import { consoleFrame } from "./console-frame.ts";
import { administratorHere, type ConsoleDeps, consolePath, show, type Visit } from "./visit.ts";

export interface Submission {
  readonly signedIn: SignedIn;
  /** The first value of each field. */
  readonly values: ReadonlyMap<string, string>;
  /** Every value of a field that may be there more than once. */
  all(name: string): readonly string[];
}

/**
 * @param path where a browser comes back to that has to sign in first
 * @param expired shows the form again with what was typed, 403, when it is none of ours or too old
 * @returns undefined when the answer has been sent. @throws OAuthError 403 for who is no administrator, and for another site
 */
export async function submission(
  deps: ConsoleDeps,
  visit: Visit,
  path: string,
  expired: (submission: Submission) => Promise<void>,
): Promise<Submission | undefined> {
  const signedIn = await administratorHere(deps, visit, path);
  if (!signedIn) return undefined;
  const { values, allValues } = formOf(visit.request);
  const all = (name: string) => allValues.get(name) ?? [values.get(name) ?? []].flat();
  const sent = { signedIn, values, all };
  // First of all: nothing that a stranger's page has sent is ever shown again with a seal of ours.
  if (!deps.door.isFromHere(visit)) throw foreignForm();
  if (!deps.door.isOwnForm(visit, values.get("csrf")) && !isKept(deps, visit, sent)) {
    await expired(sent);
    return undefined;
  }
  if ((await lackingProof(deps.database.query, signedIn, deps.clock())) === undefined) return sent;
  await askForProof(deps, visit, sent);
  return undefined;
}

/** What another site has filled in must not wait here for one press of a button. */
export const foreignForm = (): OAuthError =>
  new OAuthError("access_denied", "The form was sent from another site. Open the page here and fill it in.", {
    status: 403,
    reason: "foreign-form",
  });

async function askForProof(
  deps: ConsoleDeps,
  visit: Visit,
  { signedIn, values, all }: Submission,
): Promise<void> {
  const frame = await consoleFrame(deps, visit, signedIn, undefined);
  const { csrf } = deps.door.formBinding(visit);
  const names = [...values.keys()].filter((name) => name !== "csrf" && name !== KEPT);
  const kept = names.flatMap((name) => all(name).map((value) => ({ name, value })));
  const page = provePage({
    ...frame,
    action: visit.request.url,
    kept: [
      { name: "csrf", value: csrf },
      { name: KEPT, value: deps.door.keptSeal(visit, keptFor(visit, signedIn, deps.clock())) },
      ...kept,
    ],
    signInUri: consolePath(visit.organisation, "/confirm-identity"),
  });
  await show(visit, frame, page, 403);
}

/** The field with which a form that has waited for a new sign-in says that it is ours. */
const KEPT = "kept";
const HOUR_MS = 3_600_000;

/**
 * Signing in again makes another session, and the seal of the form that waits is bound to the one before. This one is bound
 * to who waits, to the form's address and to the hour.
 */
const keptFor = ({ request }: Visit, { user }: SignedIn, at: number): string =>
  `kept:${user.id}:${request.url}:${Math.floor(at / HOUR_MS)}`;

/** For one hour at least, and two at most. */
function isKept(deps: ConsoleDeps, visit: Visit, { signedIn, values }: Submission): boolean {
  const now = deps.clock();
  return [now, now - HOUR_MS].some((at) =>
    deps.door.isKeptForm(visit, keptFor(visit, signedIn, at), values.get(KEPT)),
  );
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

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, sorted(member)]),
  );
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
