/**
 * Editing a record: the same flow for every form that shows a record and saves it. The form carries the version that its
 * sender saw; nothing is saved unless the record, locked and read again in the transaction of the change, still has it.
 * Whatever goes wrong, the page comes back with what was typed.
 */
import type { FastifyInstance } from "fastify";
import type { SignedIn } from "../core/sessions/session.ts";
import { boundTo, type Db } from "../db/open.ts";
import { goneRecordPage } from "../html/components/act.page.ts";
import type { HiddenField } from "../html/components/form.ts";
import {
  changedValues,
  type FormShown,
  type FormState,
  type FormView,
} from "../html/components/form-state.ts";
import type { FormFailure } from "../html/components/record-form.ts";
import type { Html } from "../html/html.ts";
import type { Messages } from "../html/messages/messages.ts";
import { NotFound } from "../http/errors.ts";
import { parsedForm } from "../http/form-body.ts";
import {
  type AcceptedForm,
  acceptActionForm,
  acceptOneTimeForm,
  applyOnce,
  duplicateSubmission,
  newSubmissionToken,
  type OneTimeForm,
  type RejectedForm,
  type SentForm,
} from "./accept-form.ts";
import { findLastChange } from "./actor-names.ts";
import { type ConsolePage, consoleFrame, pageMessages } from "./console-frame.ts";
import { formView } from "./form-view.ts";
import {
  auditContext,
  type CONSOLE,
  type ConsoleDeps,
  consoleRoute,
  redirectTo,
  requireAdministrator,
  requireRecentAuthentication,
  show,
  type Visit,
} from "./page.ts";
import { askForIdentity } from "./reauthentication.ts";
import { requireVersion, VersionConflict, versionOf } from "./record-version.ts";
import { forgetEdit, keptEdit, offerUndo, UNDO_FIELD, type UndoableEdit, undoneUri } from "./undo.ts";

/** One showing of the form, or one submission. */
export interface Editing<Stored> {
  readonly visit: Visit;
  readonly signedIn: SignedIn;
  readonly record: Stored;
  readonly messages: Messages;
}

export interface EditForm<Deps, Stored, Input, Content> {
  readonly current: ConsolePage;
  /** Any administrator may open the page, however long ago they signed in. */
  readonly readOnlyAllowed?: boolean;
  /** It sends something and leaves the record as it is: see `acceptActionForm`. */
  readonly isRepeatable?: true;
  /** Fields that never wait in a page while one signs in again: see `askForIdentity`. */
  readonly secretFields?: readonly string[];
  /** The page embeds another document of ours. */
  readonly hasFrame?: true;
  /** @throws NotFound */
  load(deps: Pick<ConsoleDeps, "database">, visit: Visit): Promise<Stored>;
  /** Makes others who would change the record wait until the transaction ends. */
  lock(tx: Db, record: NoInfer<Stored>, editing: Editing<NoInfer<Stored>>): Promise<unknown>;
  /** The members that the form can change, or the record's version number. */
  version(record: NoInfer<Stored>): unknown;
  toInput(record: NoInfer<Stored>): Input;
  readInput(form: SentForm, editing: Editing<Stored>): Input;
  /** Each field's value in words, for those that somebody else has changed. */
  toDisplay(input: Input, editing: Editing<Stored>): Readonly<Record<string, string>>;
  page(view: FormView<Input>, editing: Editing<Stored>): Html | Promise<Html>;
  /** The button that shows the form again with what was typed, and saves nothing. */
  readonly previewButton?: string;
  validate(input: Input, editing: Editing<Stored>): Validated<Content> | Promise<Validated<Content>>;
  /**
   * @param inside bound to the transaction that has locked the record
   * @param editing with the record as it is now
   * @returns the address that the browser goes to
   */
  save(
    inside: Deps,
    content: Content,
    editing: Editing<Stored> & { readonly acting: ReturnType<typeof auditContext> },
  ): Promise<string>;
  /** Whether saving the former values again takes all of it back: so it is where this is left out. */
  isUndoable?(content: Content, editing: Editing<Stored>): boolean;
  /** What the form carries to name its record, besides its address. */
  recordFields?(record: NoInfer<Stored>): readonly HiddenField[];
  /** What `save` threw, when it is about what was typed: faults (400), or a refusal (409). */
  explain?(error: unknown, editing: Editing<Stored>): FormState | FormFailure | undefined;
}

type Validated<Content> =
  | { readonly content: Content }
  | { readonly faults: Readonly<Record<string, string>> };

export function editRoute<Deps extends ConsoleDeps, Stored extends { id: string }, Input, Content>(
  app: FastifyInstance,
  deps: Deps,
  url: `${typeof CONSOLE}/${string}`,
  form: EditForm<Deps, Stored, Input, Content>,
): void {
  consoleRoute(app, deps, url, {
    get: (_, visit) => showEditForm(deps, visit, form),
    post: (_, visit) => submitEditForm(deps, visit, form),
  });
}

export async function showEditForm<Deps extends ConsoleDeps, Stored, Input, Content>(
  deps: Deps,
  visit: Visit,
  form: EditForm<Deps, Stored, Input, Content>,
): Promise<void> {
  const mayOpen = form.readOnlyAllowed ? requireAdministrator : requireRecentAuthentication;
  const signedIn = await mayOpen(deps, visit);
  const editing = await startEditing(deps, visit, form, signedIn);
  await showForm(deps, form, editing, { input: form.toInput(editing.record) });
}

async function startEditing<Stored>(
  deps: ConsoleDeps,
  visit: Visit,
  { load }: Pick<EditForm<never, Stored, never, never>, "load">,
  signedIn: SignedIn,
): Promise<Editing<Stored>> {
  return { visit, signedIn, messages: pageMessages(visit, signedIn), record: await load(deps, visit) };
}

interface Shown<Input> extends FormShown<Input> {
  /** As the form carried it; the record's present version when left out. */
  readonly version?: string;
}

async function showForm<Deps extends ConsoleDeps, Stored, Input, Content>(
  deps: Deps,
  form: EditForm<Deps, Stored, Input, Content>,
  editing: Editing<Stored>,
  shown: Shown<Input>,
): Promise<void> {
  const { visit, signedIn, record } = editing;
  const view = await formView(deps, visit, signedIn, form.current, shown, {
    version: shown.version ?? versionOf(form.version(record)),
    once: form.isRepeatable ? newSubmissionToken(deps) : undefined,
  });
  const { hasFrame = false } = form;
  await show(visit, { ...view, hasFrame }, await form.page(view, editing), shown.status);
}

/** The page again after another of its forms was refused; its own form is as stored. */
export async function rerenderEditForm<Deps extends ConsoleDeps, Stored, Input, Content>(
  deps: Deps,
  visit: Visit,
  form: EditForm<Deps, Stored, Input, Content>,
  signedIn: SignedIn,
  shown: Partial<FormShown<Input>>,
): Promise<void> {
  const editing = await startEditing(deps, visit, form, signedIn);
  await showForm(deps, form, editing, { input: form.toInput(editing.record), ...shown });
}

export async function submitEditForm<Deps extends ConsoleDeps, Stored extends { id: string }, Input, Content>(
  deps: Deps,
  visit: Visit,
  form: EditForm<Deps, Stored, Input, Content>,
): Promise<void> {
  const isUndo = parsedForm(visit.request).values.has(UNDO_FIELD);
  const sent = await (isUndo ? acceptOneTimeForm(deps, visit) : acceptActionForm(deps, visit, form));
  if (sent.outcome === "reauthenticate") return askForIdentity(deps, visit, sent, form.secretFields);
  try {
    await (isUndo ? undo : submit)(deps, visit, form, sent);
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    await showGone(deps, visit, form, sent);
  }
}

async function submit<Deps extends ConsoleDeps, Stored extends { id: string }, Input, Content>(
  deps: Deps,
  visit: Visit,
  form: EditForm<Deps, Stored, Input, Content>,
  sent: AcceptedForm | OneTimeForm | RejectedForm,
): Promise<void> {
  const editing = await startEditing(deps, visit, form, sent.signedIn);
  const input = form.readInput(sent, editing);
  // The version stays the one that was seen: the next try must not overwrite what somebody else has saved meanwhile.
  const version = sent.values.get("seen") ?? "";
  const rerender = (shown: Partial<Shown<Input>>) =>
    showForm(deps, form, editing, { input, version, ...shown });
  if (sent.outcome === "rejected") return rerender(sent.refusal);

  const validated = await form.validate(input, editing);
  if ("faults" in validated) return rerender({ state: validated, status: 400 });
  if (form.previewButton !== undefined && sent.values.has(form.previewButton)) return rerender({});
  try {
    const saved = await saveOnce(deps, sent, (inside) =>
      saveVersion(inside, form, editing, { version, content: validated.content }),
    );
    if (saved === "duplicate-submission") return await rerender(duplicateSubmission());
    if (saved.edit) offerUndo(deps, visit, sent.signedIn, saved.edit);
    else forgetEdit(deps, visit);
    await redirectTo(visit, saved.uri);
  } catch (error) {
    if (error instanceof VersionConflict) return showConflict(deps, form, editing, input);
    const refusal = form.explain?.(error, editing);
    if (!refusal) throw error;
    await rerender("kind" in refusal ? { failure: refusal, status: 409 } : { state: refusal, status: 400 });
  }
}

const saveOnce = <Deps extends ConsoleDeps>(
  deps: Deps,
  sent: AcceptedForm | OneTimeForm,
  save: (inside: Deps) => Promise<Saved>,
): Promise<Saved | "duplicate-submission"> =>
  "submissionToken" in sent
    ? applyOnce(deps, sent, save)
    : deps.database.transaction((tx) => save({ ...deps, database: boundTo(deps.database, tx) }));

interface Saved {
  readonly uri: string;
  /** Where something has changed, and can be taken back. */
  readonly edit: UndoableEdit | undefined;
}

/** @throws VersionConflict, NotFound, and what `save` throws: then nothing is saved */
async function saveVersion<Deps extends ConsoleDeps, Stored extends { id: string }, Input, Content>(
  inside: Deps,
  form: EditForm<Deps, Stored, Input, Content>,
  editing: Editing<Stored>,
  { version, content }: { version: string; content: Content },
): Promise<Saved> {
  const { visit, signedIn } = editing;
  await form.lock(inside.database.query, editing.record, editing);
  const record = await form.load(inside, visit);
  requireVersion(version, form.version(record));
  const uri = await form.save(inside, content, { ...editing, record, acting: auditContext(visit, signedIn) });
  if (form.isUndoable?.(content, editing) === false) return { uri, edit: undefined };
  const written = versionOf(form.version(await form.load(inside, visit)));
  const fields = form.recordFields?.(record) ?? [];
  const edit = { recordId: record.id, before: form.toInput(record), written, uri, fields };
  return { uri, edit: written === version ? undefined : edit };
}

/** Saves what was there before the last edit, unless anybody has saved something since. */
async function undo<Deps extends ConsoleDeps, Stored extends { id: string }, Input, Content>(
  deps: Deps,
  visit: Visit,
  form: EditForm<Deps, Stored, Input, Content>,
  sent: AcceptedForm | OneTimeForm | RejectedForm,
): Promise<void> {
  const { signedIn } = sent;
  const editing = await startEditing(deps, visit, form, signedIn);
  const rerender = (shown: Partial<Shown<Input>>) => rerenderEditForm(deps, visit, form, signedIn, shown);
  if (!("submissionToken" in sent)) return rerender("refusal" in sent ? sent.refusal : {});
  const refuse = () => {
    const { title, text } = editing.messages.console.frame.notUndone;
    return rerender({ failure: { kind: "refused", title, text }, status: 409 });
  };
  const { record } = editing;
  const kept = keptEdit(deps, visit, signedIn, { once: sent.values.get("once"), recordId: record.id });
  if (!kept) return refuse();
  // Of this form, of this version of the service.
  const validated = await form.validate(kept.before as Input, editing);
  if ("faults" in validated) return refuse();
  try {
    const saved = await applyOnce(deps, sent, (inside) =>
      saveVersion(inside, form, editing, { version: kept.written, content: validated.content }),
    );
    if (saved === "duplicate-submission") return await refuse();
    forgetEdit(deps, visit);
    await redirectTo(visit, undoneUri(kept));
  } catch (error) {
    if (!(error instanceof VersionConflict) && !form.explain?.(error, editing)) throw error;
    await refuse();
  }
}

/** Says who was faster, and what each differing field is now; sent once more, what was typed is saved. */
async function showConflict<Deps extends ConsoleDeps, Stored extends { id: string }, Input, Content>(
  deps: Deps,
  form: EditForm<Deps, Stored, Input, Content>,
  { visit, signedIn }: Editing<Stored>,
  input: Input,
): Promise<void> {
  const editing = await startEditing(deps, visit, form, signedIn);
  const { record, messages } = editing;
  const isNow = changedValues(form.toDisplay(input, editing), form.toDisplay(form.toInput(record), editing));
  const by = signedIn.portal
    ? undefined
    : await findLastChange(deps, visit.organisation.id, record.id, messages);
  await showForm(deps, form, editing, {
    input,
    state: { isNow },
    failure: { kind: "changed", by },
    status: 409,
  });
}

/** The record was deleted while the form was open: 404, with the reason. */
async function showGone(
  deps: ConsoleDeps,
  visit: Visit,
  { current }: { current: ConsolePage },
  { signedIn }: SentForm,
): Promise<void> {
  const frame = await consoleFrame(deps, visit, signedIn, current);
  await show(visit, frame, goneRecordPage(frame), 404);
}
