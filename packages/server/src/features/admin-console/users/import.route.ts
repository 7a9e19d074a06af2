/** users/import and users/invite: many users from CSV or from pasted addresses; shown first, then created all at once. */
import type { FastifyInstance } from "fastify";
import { findTaken, importUsers } from "../../../core/users/import/import-users.ts";
import {
  type ImportedUser,
  type ImportFault,
  importLimits,
  readAddresses,
  readUsers,
} from "../../../core/users/import/read-users.ts";
import { InvalidUser } from "../../../core/users/users.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import {
  acceptOneTimeForm,
  applyOnce,
  duplicateSubmission,
  type OneTimeForm,
} from "../../../page-kit/accept-form.ts";
import { formView, showFormPage } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  consolePath,
  consoleRoute,
  redirectTo,
  requireRecentAuthentication,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { type ImportInput, type ImportKind, importPage, importPreviewPage } from "./import.page.ts";
import type { UsersDeps } from "./user-pages.ts";

/** Percent-encoding triples a byte. */
const MAX_BODY_BYTES = 3 * importLimits.bytes + 64 * 1024;

export function importRoutes(app: FastifyInstance, deps: UsersDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/users/import", {
    ...handlersOf("csv"),
    maxBytes: MAX_BODY_BYTES,
  });
  consoleRoute(app, deps, "/oauth/manage/:org/users/invite", handlersOf("addresses"));
}

const handlersOf = (kind: ImportKind) => ({
  get: async (deps: UsersDeps, visit: Visit): Promise<void> => {
    const signedIn = await requireRecentAuthentication(deps, visit);
    const input = { list: "", invites: kind === "addresses" };
    await showFormPage(deps, visit, signedIn, "users", { input }, (view) =>
      importPage(view, kind, [], deps.outbox.isOpen),
    );
  },
  post: (deps: UsersDeps, visit: Visit): Promise<void> => receiveList(deps, visit, kind),
});

async function receiveList(deps: UsersDeps, visit: Visit, kind: ImportKind): Promise<void> {
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn, values } = form;
  const isInvitation = kind === "addresses" || values.get("invites") === "on";
  const input: ImportInput = { list: values.get("list") ?? "", invites: isInvitation };
  const rerender = (faults: readonly ImportFault[], shown: Partial<FormShown<ImportInput>> = {}) =>
    showFormPage(deps, visit, signedIn, "users", { input, ...shown }, (view) =>
      importPage(view, kind, faults, deps.outbox.isOpen),
    );
  if (form.outcome === "rejected") return rerender([], form.refusal);

  if (values.get("confirmed") === "yes") return importConfirmed(deps, visit, form, { kind, input, rerender });
  const read = await readList(deps, visit, kind, input);
  if (read.faults.length > 0) return rerender(read.faults, { status: 400 });
  const view = await formView(deps, visit, signedIn, "users", { input });
  await show(visit, view, importPreviewPage(view, kind, read));
}

/** Rolls back what was created. */
class FaultyList extends Error {
  readonly faults: readonly ImportFault[];
  constructor(faults: readonly ImportFault[]) {
    super("the list has faults");
    this.faults = faults;
  }
}

/** The list is read again: the preview may be old. */
async function importConfirmed(
  deps: UsersDeps,
  visit: Visit,
  form: OneTimeForm,
  {
    kind,
    input,
    rerender,
  }: {
    kind: ImportKind;
    input: ImportInput;
    rerender: (faults: readonly ImportFault[], shown: Partial<FormShown<ImportInput>>) => Promise<void>;
  },
): Promise<void> {
  const { organisation } = visit;
  const { actor, address } = auditContext(visit, form.signedIn);
  const { invites } = input;
  try {
    const done = await applyOnce(deps, form, async (inside) => {
      const { users, faults } = await readList(inside, visit, kind, input);
      if (faults.length > 0) throw new FaultyList(faults);
      await importUsers(inside, { organisation, users, invites, actor, address });
    });
    if (done === "duplicate-submission") return rerender([], duplicateSubmission());
  } catch (error) {
    if (error instanceof FaultyList) return rerender(error.faults, { status: 400 });
    // Another request has created one of them in this moment: the list says which.
    if (!(error instanceof InvalidUser)) throw error;
    return rerender((await readList(deps, visit, kind, input)).faults, { status: 409 });
  }
  await redirectTo(visit, consolePath(organisation, `/users?done=${invites ? "invitedMany" : "imported"}`));
}

interface List {
  readonly users: readonly ImportedUser[];
  /** Nothing is created while there is one. */
  readonly faults: readonly ImportFault[];
  readonly skipped: readonly ImportFault[];
}

async function readList(
  { database, outbox }: UsersDeps,
  { organisation }: Visit,
  kind: ImportKind,
  { list, invites }: ImportInput,
): Promise<List> {
  const isPasted = kind === "addresses";
  const read = isPasted ? readAddresses(list) : readUsers(list);
  const taken = await findTaken(database.query, organisation.id, read.users);
  const isTaken = new Set(taken.map(({ text }) => text));
  // Whoever pastes addresses wants them all to be in; a file has said more about each, which would be lost.
  const skippable = isPasted ? read.faults.filter(({ fault }) => fault === "duplicate") : [];
  const users = isPasted ? read.users.filter(({ email }) => !isTaken.has(email)) : read.users;
  const limit: ImportFault[] =
    invites && users.length > importLimits.invitations ? [{ line: 0, fault: "too-many-invitations" }] : [];
  const mail: ImportFault[] = invites && !outbox.isOpen ? [{ line: 0, fault: "no-mail" }] : [];
  const faults = [
    ...limit,
    ...mail,
    ...read.faults.filter((one) => !skippable.includes(one)),
    ...(isPasted ? [] : taken),
  ];
  return {
    users,
    faults: faults.toSorted((one, other) => one.line - other.line),
    skipped: isPasted ? [...skippable, ...taken] : [],
  };
}
