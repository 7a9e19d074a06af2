/**
 * What an edit form offers after it has saved: the way back, for ten minutes, in a toast of the page that the browser goes
 * to. It is bound to the session, the form's address, the record and the version that was written: what anybody has saved
 * since is never overwritten.
 */
import type { SignedIn } from "../core/sessions/session.ts";
import type { HiddenField } from "../html/components/form.ts";
import type { Undo } from "../html/components/toast.ts";
import type { Messages } from "../html/messages/messages.ts";
import { newSubmissionToken } from "./accept-form.ts";
import { type ConsoleDeps, requestPath, type Visit } from "./page.ts";

/** The field of a form that takes the last edit back. */
export const UNDO_FIELD = "undo";
/** The value of `done` in an address after that. */
export const UNDONE = "undone";

const UNDO_SECONDS = 600;

interface KeptEdit {
  /** Of the service: another version's form may have other fields. */
  readonly service: string;
  /** The form's address. */
  readonly form: string;
  readonly recordId: string;
  /** What the form showed before, as it was stored. */
  readonly before: unknown;
  /** The version that the edit has written. */
  readonly written: string;
  /** Where the toast stands. */
  readonly uri: string;
  /** Names the record besides the form's address. */
  readonly fields: readonly HiddenField[];
  /** Of the undo itself: it happens once. */
  readonly once: string;
  readonly expiresAt: number;
}

type UndoDeps = Pick<ConsoleDeps, "browserSession" | "clock" | "version">;

export type UndoableEdit = Pick<KeptEdit, "recordId" | "before" | "written" | "uri" | "fields">;

export function offerUndo(deps: UndoDeps, visit: Visit, { session }: SignedIn, edit: UndoableEdit): void {
  const kept: KeptEdit = {
    ...edit,
    service: deps.version,
    form: requestPath(visit),
    once: newSubmissionToken(deps),
    expiresAt: deps.clock() + UNDO_SECONDS * 1_000,
  };
  deps.browserSession.undo.write(visit, session.id, JSON.stringify(kept), UNDO_SECONDS);
}

/** The edit that the form of a toast takes back; undefined when it is another one, of another record, or too long ago. */
export function keptEdit(
  deps: UndoDeps,
  visit: Visit,
  { session }: SignedIn,
  wanted: { readonly once: string | undefined; readonly recordId: string },
): KeptEdit | undefined {
  const kept = readKept(deps, visit, session.id);
  const isWanted =
    kept !== undefined &&
    kept.service === deps.version &&
    kept.form === requestPath(visit) &&
    kept.recordId === wanted.recordId &&
    kept.once === wanted.once &&
    deps.clock() < kept.expiresAt;
  return isWanted ? kept : undefined;
}

export const forgetEdit = ({ browserSession }: Pick<ConsoleDeps, "browserSession">, visit: Visit): void =>
  browserSession.undo.clear(visit);

/** For the toast of the page that the edit led to; of no other page. */
export function undoOf(
  { browserSession }: Pick<ConsoleDeps, "browserSession">,
  visit: Visit,
  { session }: SignedIn,
  { console: { frame } }: Messages,
): Undo | undefined {
  const kept = readKept({ browserSession }, visit, session.id);
  if (!kept || kept.uri !== visit.request.url) return undefined;
  return {
    action: kept.form,
    label: frame.undo,
    fields: [
      { name: "csrf", value: browserSession.formBinding(visit).csrf },
      { name: "once", value: kept.once },
      { name: UNDO_FIELD, value: "1" },
      ...kept.fields,
    ],
  };
}

/** Where the browser goes when the edit is taken back. */
export function undoneUri({ uri }: Pick<KeptEdit, "uri">): string {
  const [path = "", query] = uri.split("?");
  const values = new URLSearchParams(query);
  values.set("done", UNDONE);
  return `${path}?${values}`;
}

function readKept(
  { browserSession }: Pick<ConsoleDeps, "browserSession">,
  visit: Visit,
  sessionId: string,
): KeptEdit | undefined {
  const text = browserSession.undo.read(visit, sessionId);
  // Nobody but this service can seal one.
  return text === undefined ? undefined : (JSON.parse(text) as KeptEdit);
}
