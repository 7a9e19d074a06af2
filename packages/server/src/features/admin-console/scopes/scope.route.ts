/** One custom scope: looked at, or made. */
import type { FastifyInstance } from "fastify";
import { createCustomScope, ScopeConflict } from "../../../core/scopes/custom-scopes.ts";
import { InvalidScope } from "../../../core/scopes/validation.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormState } from "../../../html/components/form-state.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { queryOf } from "../../../http/form-body.ts";
import { lastChangeOf } from "../../../page-kit/actor-names.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { making, newOnce, type Refusal } from "../../../page-kit/made-once.ts";
import type { Submission } from "../../../page-kit/sent-form.ts";
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
} from "../../../page-kit/visit.ts";
import { editScopeRoute } from "./edit-scope.route.ts";
import { scopeFormPage, scopePage } from "./scope.page.ts";
import {
  contentOf,
  emptyScope,
  readScope,
  scopeFaults,
  type TypedScope,
  withEmptyRow,
} from "./scope-form.ts";
import { idIn, scopeHere } from "./scope-visit.ts";
import { applicationsAllowing } from "./scopes.store.ts";

export function scopeRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  newScopeRoute(app, deps);
  editScopeRoute(app, deps);
  consoleRoute(app, deps, "/scopes/:id", { get: (visit) => showScope(deps, visit) });
}

function newScopeRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/scopes/new", {
    get: async (visit) => {
      const signedIn = await provenAdministrator(deps, visit, newPath(visit));
      if (signedIn) await form(deps, visit, { signedIn, typed: emptyScope });
    },
    post: (visit) => create(deps, visit),
  });
}

const newPath = ({ organisation }: Visit): string => consolePath(organisation, "/scopes/new");

async function showScope(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation, request } = visit;
  const own = consolePath(organisation, `/scopes/${encodeURIComponent(idIn(visit))}`);
  const signedIn = await administratorHere(deps, visit, own);
  if (!signedIn) return;
  const scope = await scopeHere(deps, visit);
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

interface FormShown {
  readonly signedIn: SignedIn;
  readonly typed: TypedScope;
  readonly state?: FormState;
  readonly failure?: FormFailure | undefined;
  readonly status?: number;
}

async function form(deps: ConsoleDeps, visit: Visit, shown: FormShown): Promise<void> {
  const { organisation } = visit;
  const { signedIn, typed, state = {}, failure, status } = shown;
  const frame = await consoleFrame(deps, visit, signedIn, "scopes");
  const listUri = consolePath(organisation, "/scopes");
  const page = scopeFormPage({
    ...frame,
    before: undefined,
    typed,
    state,
    failure,
    action: newPath(visit),
    csrf: deps.door.formBinding(visit).csrf,
    seen: undefined,
    once: newOnce(deps),
    listUri,
    backUri: listUri,
  });
  await show(visit, frame, page, status);
}

async function create(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const again = ({ signedIn, values }: Submission, refusal: Refusal) =>
    form(deps, visit, { signedIn, typed: withEmptyRow(readScope(values)), ...refusal });
  const sent = await making(deps, visit, newPath(visit), again, ({ console: { frame } }) => ({
    made: { label: frame.pages.scopes, uri: consolePath(visit.organisation, "/scopes") },
  }));
  if (!sent) return;
  const { signedIn, values } = sent;
  const typed = readScope(values);
  if (values.has("add")) return form(deps, visit, { signedIn, typed: withEmptyRow(typed) });
  const wanted = { ...actingOn(visit, signedIn), name: typed.name, ...contentOf(typed) };
  const { messages } = await consoleFrame(deps, visit, signedIn, "scopes");
  const made = await sent
    .once((database) => createCustomScope({ ...deps, database }, wanted))
    .catch((error: unknown) => faultsOf(error, messages));
  if (!made) return;
  if ("faults" in made)
    return form(deps, visit, { signedIn, typed: withEmptyRow(typed), state: made, status: 400 });
  await goTo(visit, consolePath(visit.organisation, `/scopes/${made.id}?done=created`));
}

/** @throws whatever it is that is no fault of what was typed */
function faultsOf(error: unknown, messages: Messages): { faults: Record<string, string> } {
  if (error instanceof InvalidScope) return { faults: scopeFaults(error.faults, messages) };
  if (!(error instanceof ScopeConflict) || error.code !== "name-taken") throw error;
  return { faults: { name: messages.console.scopes.faults["name-taken"] } };
}
