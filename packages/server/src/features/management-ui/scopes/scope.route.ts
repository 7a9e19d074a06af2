/** One custom scope: looked at, made, changed. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { lastChangeOf } from "../../../console/actor-names.ts";
import { consoleFrame } from "../../../console/console-frame.ts";
import { seenOf, submission } from "../../../console/submission.ts";
import {
  actingOn,
  administratorHere,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  goTo,
  provenAdministrator,
  show,
  type Visit,
} from "../../../console/visit.ts";
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import { changeCustomScope, createCustomScope, ScopeConflict } from "../../../core/scopes/custom-scopes.ts";
import { findCustomScope } from "../../../core/scopes/store.ts";
import { InvalidScope, MOST_CLAIMS } from "../../../core/scopes/validation.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { differing, type FormState } from "../../../html/console/form-state.ts";
import type { FormFailure } from "../../../html/console/record-form.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { NotFound } from "../../../http/errors.ts";
import { acceptForms, queryOf } from "../../../http/form-body.ts";
import { scopeFormPage, scopePage } from "./scope.page.ts";
import {
  claimsInWords,
  contentOf,
  emptyScope,
  readScope,
  scopeFaults,
  type TypedScope,
  typedScope,
  withEmptyRow,
} from "./scope-form.ts";
import { applicationsAllowing } from "./store.ts";

/** Fields of a form with as many claims as there may be. */
const MOST_FIELDS = 3 * MOST_CLAIMS + 20;

export function scopeRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  void app.register(async (scope) => {
    acceptForms(scope, { maxParameters: MOST_FIELDS });
    formRoutes(scope, deps);
  });
  consoleRoute(app, deps, "/scopes/:id", { get: (visit) => showScope(deps, visit) });
}

function formRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/scopes/new", {
    get: (visit) => showForm(deps, visit, undefined),
    post: (visit) => create(deps, visit),
  });
  consoleRoute(app, deps, "/scopes/:id/edit", {
    get: (visit) => showForm(deps, visit, idOf(visit)),
    post: (visit) => change(deps, visit),
  });
}

/** @param id as the address has it. @returns undefined when the organisation has none such */
export async function findScopeAt(
  { database }: Pick<ConsoleDeps, "database">,
  { organisation }: Pick<Visit, "organisation">,
  id = "",
): Promise<CustomScope | undefined> {
  return isUuid(id) ? findCustomScope(database.query, organisation.id, id.toLowerCase()) : undefined;
}

const idOf = ({ request }: Visit): string => (request.params as { id?: string }).id ?? "";

const pathOf = ({ organisation }: Visit, id: string | undefined): string =>
  consolePath(organisation, id === undefined ? "/scopes/new" : `/scopes/${encodeURIComponent(id)}/edit`);

async function showScope(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation, request } = visit;
  const id = idOf(visit);
  const own = consolePath(organisation, `/scopes/${encodeURIComponent(id)}`);
  const signedIn = await administratorHere(deps, visit, own);
  if (!signedIn) return;
  const scope = await findScopeAt(deps, visit, id);
  if (!scope) throw new NotFound("scope");
  const frame = await consoleFrame(deps, visit, signedIn, "scopes");
  const used = await applicationsAllowing(deps.database.query, organisation.id, scope.name);
  const done = queryOf(request).values.get("done");
  const page = scopePage({
    ...frame,
    scope,
    listUri: consolePath(organisation, "/scopes"),
    editUri: `${own}/edit`,
    deleteUri: `${own}/delete`,
    usedBy: used.map(({ id: applicationId, name }) => ({
      name,
      uri: consolePath(organisation, `/applications/${applicationId}`),
    })),
    lastChange: await lastChangeOf(deps, organisation.id, scope.id, frame.messages),
    done: done === "created" || done === "saved" ? done : undefined,
  });
  await show(visit, frame, page);
}

async function showForm(deps: ConsoleDeps, visit: Visit, id: string | undefined): Promise<void> {
  const signedIn = await provenAdministrator(deps, visit, pathOf(visit, id));
  if (!signedIn) return;
  if (id === undefined) return form(deps, visit, { signedIn, typed: emptyScope });
  const before = await findScopeAt(deps, visit, id);
  if (!before) throw new NotFound("scope");
  await form(deps, visit, { signedIn, before, typed: withEmptyRow(typedScope(before)) });
}

interface FormShown {
  readonly signedIn: SignedIn;
  readonly before?: CustomScope;
  readonly typed: TypedScope;
  readonly state?: FormState;
  readonly failure?: FormFailure | undefined;
  /** As the form had it; what the record is now, when it is left out. */
  readonly seen?: string | undefined;
  readonly status?: number;
}

async function form(deps: ConsoleDeps, visit: Visit, shown: FormShown): Promise<void> {
  const { organisation } = visit;
  const { signedIn, before, typed, state = {}, failure, status } = shown;
  const frame = await consoleFrame(deps, visit, signedIn, "scopes");
  const page = scopeFormPage({
    ...frame,
    before,
    typed,
    state,
    failure,
    action: pathOf(visit, before?.id),
    csrf: deps.door.formBinding(visit).csrf,
    seen: shown.seen ?? (before && seenOf(before.version)),
    listUri: consolePath(organisation, "/scopes"),
    backUri: consolePath(organisation, before ? `/scopes/${before.id}` : "/scopes"),
  });
  await show(visit, frame, page, status);
}

async function create(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const path = pathOf(visit, undefined);
  const sent = await submission(deps, visit, path, ({ signedIn, values }) =>
    form(deps, visit, {
      signedIn,
      typed: withEmptyRow(readScope(values)),
      failure: { kind: "expired" },
      status: 403,
    }),
  );
  if (!sent) return;
  const { signedIn, values } = sent;
  const typed = readScope(values);
  if (values.has("add")) return form(deps, visit, { signedIn, typed: withEmptyRow(typed) });
  const made = { ...actingOn(visit, signedIn), name: typed.name, ...contentOf(typed) };
  const { messages } = await consoleFrame(deps, visit, signedIn, "scopes");
  const scope = await createCustomScope(deps, made).catch((error: unknown) => faultsOf(error, messages));
  if ("faults" in scope)
    return form(deps, visit, { signedIn, typed: withEmptyRow(typed), state: scope, status: 400 });
  await goTo(visit, consolePath(visit.organisation, `/scopes/${scope.id}?done=created`));
}

/** @throws whatever it is that is no fault of what was typed */
function faultsOf(error: unknown, messages: Messages): { faults: Record<string, string> } {
  if (error instanceof InvalidScope) return { faults: scopeFaults(error.faults, messages) };
  if (!(error instanceof ScopeConflict) || error.code !== "name-taken") throw error;
  return { faults: { name: messages.console.scopes.faults["name-taken"] } };
}

async function change(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const id = idOf(visit);
  const read = async () => {
    const found = await findScopeAt(deps, visit, id);
    if (!found) throw new NotFound("scope");
    return found;
  };
  const sent = await submission(deps, visit, pathOf(visit, id), async ({ signedIn, values }) => {
    const before = await read();
    const typed = withEmptyRow({ ...readScope(values), name: before.name });
    const seen = values.get("seen");
    return form(deps, visit, { signedIn, before, typed, seen, failure: { kind: "expired" }, status: 403 });
  });
  if (!sent) return;
  const { signedIn, values } = sent;
  const before = await read();
  const typed = { ...readScope(values), name: before.name };
  const seen = values.get("seen");
  const again = { signedIn, before, typed: withEmptyRow(typed), seen };
  if (values.has("add")) return form(deps, visit, again);
  if (seen !== seenOf(before.version)) return changedMeanwhile(deps, visit, again);
  const { messages } = await consoleFrame(deps, visit, signedIn, "scopes");
  const asked = { ...actingOn(visit, signedIn), id: before.id, version: before.version };
  const after = await changeCustomScope(deps, { ...asked, content: contentOf(typed) }).catch(
    (error: unknown) => {
      if (error instanceof ScopeConflict) return "changed" as const;
      return faultsOf(error, messages);
    },
  );
  if (after === "changed") return changedMeanwhile(deps, visit, { ...again, before: await read() });
  if (!after) throw new NotFound("scope");
  if ("faults" in after) return form(deps, visit, { ...again, state: after, status: 400 });
  await goTo(visit, consolePath(visit.organisation, `/scopes/${before.id}?done=saved`));
}

async function changedMeanwhile(
  deps: ConsoleDeps,
  visit: Visit,
  { signedIn, before, typed }: FormShown & { readonly before: CustomScope },
): Promise<void> {
  const { messages } = await consoleFrame(deps, visit, signedIn, "scopes");
  const { yes, no } = messages.console.frame;
  const words = (one: TypedScope) => ({
    displayName: one.displayName,
    description: one.description,
    sensitive: one.sensitive ? yes : no,
    claims: claimsInWords(
      one.claims.filter(({ name }) => name !== ""),
      messages,
    ),
  });
  const isNow = differing(words(typed), words(typedScope(before)));
  const by = await lastChangeOf(deps, visit.organisation.id, before.id, messages);
  await form(deps, visit, {
    signedIn,
    before,
    typed,
    state: { isNow },
    failure: { kind: "changed", by },
    status: 409,
  });
}
