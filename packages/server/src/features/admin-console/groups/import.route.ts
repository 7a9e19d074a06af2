/** groups/{id}/members/import: many members from CSV; each line's fate is shown first, then they are added all at once. */
import type { FastifyInstance } from "fastify";
import { GroupConflict, InvalidGroup } from "../../../core/groups/group.ts";
import type { CountedGroup } from "../../../core/groups/groups.store.ts";
import { addMembers, fateMembers } from "../../../core/groups/import/import-members.ts";
import { memberImportLimits, readMembers } from "../../../core/groups/import/read-members.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { NotFound } from "../../../http/errors.ts";
import {
  acceptOneTimeForm,
  applyOnce,
  duplicateSubmission,
  type OneTimeForm,
} from "../../../page-kit/accept-form.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import { formView, showFormPage } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  type ConsoleDeps,
  consoleRoute,
  redirectTo,
  requireId,
  requireRecentAuthentication,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { findSubjectNames } from "../roles/subjects.store.ts";
import { groupPages } from "./group-pages.ts";
import {
  listFaultText,
  type MemberImportInput,
  memberImportPage,
  memberImportPreview,
  type ReadImport,
} from "./import.page.ts";

/** Percent-encoding triples a byte. */
const MAX_BODY_BYTES = 3 * memberImportLimits.bytes + 64 * 1024;

export const memberImportRoute = (app: FastifyInstance, deps: ConsoleDeps): void =>
  consoleRoute(app, deps, "/oauth/manage/:org/groups/:id/members/import", {
    ...{ get: showImport, post: receiveList, maxBytes: MAX_BODY_BYTES },
  });

/** @throws NotFound for a group that a connection provisions, too */
async function requireOwnGroup(deps: ConsoleDeps, visit: Visit): Promise<CountedGroup> {
  const group = await groupPages.require(deps, visit);
  if (group.source !== "local") throw new NotFound("import");
  return group;
}

async function showImport(deps: ConsoleDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const signedIn = await requireRecentAuthentication(deps, visit);
  const group = await requireOwnGroup(deps, visit);
  await showForm(deps, visit, { signedIn, group }, { input: { list: "" } });
}

interface Importing {
  readonly signedIn: SignedIn;
  readonly group: CountedGroup;
}

const showForm = (
  deps: ConsoleDeps,
  visit: Visit,
  { signedIn, group }: Importing,
  shown: FormShown<MemberImportInput>,
  read?: ReadImport,
): Promise<void> =>
  showFormPage(deps, visit, signedIn, "groups", shown, (view) => memberImportPage({ ...view, group }, read));

async function receiveList(deps: ConsoleDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn, values } = form;
  const group = await requireOwnGroup(deps, visit);
  const importing = { signedIn, group };
  const input: MemberImportInput = { list: values.get("list") ?? "" };
  if (form.outcome === "rejected") return showForm(deps, visit, importing, { input, ...form.refusal });

  if (values.get("confirmed") === "yes") return importConfirmed(deps, visit, form, { ...importing, input });
  await showFate(deps, visit, { ...importing, input });
}

/** What would happen; a list of which nobody is added can be corrected. */
async function showFate(
  deps: ConsoleDeps,
  visit: Visit,
  { signedIn, group, input }: Importing & { readonly input: MemberImportInput },
  status?: number,
): Promise<void> {
  const messages = pageMessages(visit, signedIn);
  const read = readMembers(input.list);
  const importing = { signedIn, group };
  if ("fault" in read) {
    const faults = { list: listFaultText(read, messages) };
    return showForm(deps, visit, importing, { input, state: { faults }, status: 400 });
  }
  const lines = await fateMembers(deps.database.query, group, read.members);
  const names = await namesOf(deps, group, lines);
  if (!lines.some(({ fate }) => fate === "add")) {
    const faults = { list: messages.console.groups.members.import.faults.nobody };
    const shown = { input, state: { faults }, status: 400 };
    return showForm(deps, visit, importing, shown, { lines, names });
  }
  const view = await formView(deps, visit, signedIn, "groups", { input });
  await show(visit, view, memberImportPreview({ ...view, group }, { lines, names }), status);
}

/** Of each fate as many as are shown. */
const MAX_NAMED = 200;

function namesOf(
  { database }: ConsoleDeps,
  { orgId }: CountedGroup,
  lines: ReadImport["lines"],
): Promise<ReadonlyMap<string, string>> {
  const [added, others] = [true, false].map((isAdded) =>
    lines.filter(({ fate }) => (fate === "add") === isAdded).slice(0, MAX_NAMED),
  );
  const members = [...(added ?? []), ...(others ?? [])].flatMap(({ member }) => member ?? []);
  const subjects = members.map(({ type, id }) => ({ subjectType: type, subjectId: id }));
  return findSubjectNames(database.query, orgId, subjects);
}

/** The list is read again: the preview may be old. */
async function importConfirmed(
  deps: ConsoleDeps,
  visit: Visit,
  form: OneTimeForm,
  { signedIn, group, input }: Importing & { readonly input: MemberImportInput },
): Promise<void> {
  const acting = auditContext(visit, signedIn);
  const membersUri = groupPages.path(visit.organisation, group.id, "/members");
  try {
    const outcome = await applyOnce(deps, form, async (inside) => {
      const read = readMembers(input.list);
      const lines = "fault" in read ? [] : await fateMembers(inside.database.query, group, read.members);
      const members = lines.flatMap(({ fate, member }) => (fate === "add" && member ? [member] : []));
      await addMembers(inside, { ...acting, id: group.id, members });
      return members.length;
    });
    if (outcome === "duplicate-submission") {
      const { groups: text } = pageMessages(visit, signedIn).console;
      const refusal = duplicateSubmission({ result: { label: text.members.title, uri: membersUri } });
      return await showForm(deps, visit, { signedIn, group }, { input, ...refusal });
    }
    await redirectTo(visit, `${membersUri}?done=${outcome === 0 ? "already" : "imported"}`);
  } catch (error) {
    // Somebody was deleted, or a group nested, in this moment: the preview says what is left to do.
    if (!(error instanceof InvalidGroup || error instanceof GroupConflict)) throw error;
    await showFate(deps, visit, { signedIn, group, input }, 409);
  }
}
