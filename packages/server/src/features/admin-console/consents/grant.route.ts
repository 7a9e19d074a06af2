/** A yes of an administrator: for everybody, for one user, or ahead of any request. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { findApplication } from "../../../core/applications/applications.store.ts";
import {
  ConsentThere,
  createPreauthorization,
  grantByAdministrator,
  InvalidConsent,
} from "../../../core/consents/consents.ts";
import { listCustomScopes } from "../../../core/scopes/scopes.store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { emailKey } from "../../../core/users/user.ts";
import { findSignInAccount } from "../../../core/users/users.store.ts";
import type { FormState } from "../../../html/components/form-state.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { NotFound } from "../../../http/errors.ts";
import { queryOf } from "../../../http/form-body.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { making, newOnce, type Refusal } from "../../../page-kit/made-once.ts";
import type { Submission } from "../../../page-kit/sent-form.ts";
import {
  actingOn,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  goTo,
  provenAdministrator,
  queryText,
  show,
  type Visit,
} from "../../../page-kit/visit.ts";
import type { ConsentsTab } from "./consents.page.ts";
import { applicationsLike } from "./consents.store.ts";
import { MOST_CHOICES } from "./find-application.ts";
import { chooseApplicationPage, grantPage, type TypedGrant } from "./grant.page.ts";

export function grantRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  for (const tab of ["consents", "preauthorizations"] as const)
    consoleRoute(app, deps, `/${tab}/new`, {
      get: (visit) => showPage(deps, visit, tab),
      post: (visit) => grant(deps, visit, tab),
    });
}

const pathOf = ({ organisation }: Visit, tab: ConsentsTab, query: Record<string, string | undefined> = {}) =>
  consolePath(organisation, `/${tab}/new${queryText(query)}`);

/** @returns undefined when the id is none of an application of this organisation */
async function applicationOf(
  { database }: ConsoleDeps,
  { organisation }: Visit,
  id: string | undefined,
): Promise<Application | undefined> {
  if (id === undefined || !isUuid(id)) return undefined;
  return findApplication(database.query, organisation.id, id.toLowerCase());
}

async function showPage(deps: ConsoleDeps, visit: Visit, tab: ConsentsTab): Promise<void> {
  const { values } = queryOf(visit.request);
  const id = values.get("application");
  const search = (values.get("search") ?? "").trim().slice(0, 100);
  const signedIn = await provenAdministrator(deps, visit, pathOf(visit, tab, { application: id, search }));
  if (!signedIn) return;
  if (id === undefined) return choose(deps, visit, { tab, signedIn, search });
  const application = await applicationOf(deps, visit, id);
  if (!application) throw new NotFound("application");
  const typed = { forWhom: "organisation", email: "", scopes: [] };
  await form(deps, visit, { tab, signedIn, application, typed });
}

async function choose(
  deps: ConsoleDeps,
  visit: Visit,
  { tab, signedIn, search }: { tab: ConsentsTab; signedIn: SignedIn; search: string },
): Promise<void> {
  const { organisation } = visit;
  const found = await applicationsLike(deps.database.query, organisation.id, search, MOST_CHOICES + 1);
  const frame = await consoleFrame(deps, visit, signedIn, "consents");
  const page = chooseApplicationPage({
    ...frame,
    tab,
    listUri: consolePath(organisation, `/${tab}`),
    action: pathOf(visit, tab),
    search,
    newApplicationUri: consolePath(organisation, "/applications/new"),
    applications: found
      .slice(0, MOST_CHOICES)
      .map(({ id, name }) => ({ id, name, uri: pathOf(visit, tab, { application: id }) })),
    hasMore: found.length > MOST_CHOICES,
  });
  await show(visit, frame, page);
}

interface FormShown {
  readonly tab: ConsentsTab;
  readonly signedIn: SignedIn;
  readonly application: Application;
  readonly typed: TypedGrant;
  readonly state?: FormState;
  readonly failure?: FormFailure;
  readonly status?: number;
}

async function form(deps: ConsoleDeps, visit: Visit, shown: FormShown): Promise<void> {
  const { organisation } = visit;
  const { tab, signedIn, application, typed, state = {}, failure, status } = shown;
  const frame = await consoleFrame(deps, visit, signedIn, "consents");
  const custom = await listCustomScopes(deps.database.query, organisation.id);
  const standard: Readonly<Record<string, string>> = frame.messages.scopes;
  const page = grantPage({
    ...frame,
    tab,
    application,
    scopes: application.settings.allowedScopes.map((name) => ({
      name,
      text:
        (Object.hasOwn(standard, name) ? standard[name] : undefined) ??
        custom.find((scope) => scope.name === name)?.displayName ??
        frame.messages.consent.customScope({ name }),
    })),
    typed,
    state,
    failure,
    action: pathOf(visit, tab),
    csrf: deps.door.formBinding(visit).csrf,
    once: newOnce(deps),
    listUri: consolePath(organisation, `/${tab}`),
  });
  await show(visit, frame, page, status);
}

const typedOf = (values: ReadonlyMap<string, string>, scopes: readonly string[]): TypedGrant => ({
  forWhom: values.get("forWhom") ?? "",
  email: (values.get("email") ?? "").trim().slice(0, 254),
  scopes,
});

async function grant(deps: ConsoleDeps, visit: Visit, tab: ConsentsTab): Promise<void> {
  const requireApplication = async (id: string | undefined) => {
    const application = await applicationOf(deps, visit, id);
    if (!application) throw new NotFound("application");
    return application;
  };
  const again = async ({ signedIn, values, all }: Submission, refusal: Refusal) => {
    const application = await requireApplication(values.get("application"));
    const typed = typedOf(values, all("scopes"));
    await form(deps, visit, { tab, signedIn, application, typed, ...refusal });
  };
  const sent = await making(deps, visit, pathOf(visit, tab), again, ({ console: { frame } }) => ({
    made: { label: frame.pages.consents, uri: consolePath(visit.organisation, `/${tab}`) },
  }));
  if (!sent) return;
  const { signedIn, values, all } = sent;
  const application = await requireApplication(values.get("application"));
  const typed = typedOf(values, all("scopes"));
  const { messages } = await consoleFrame(deps, visit, signedIn, "consents");
  const read = await readGrant(deps, visit, tab, typed, messages);
  if ("faults" in read)
    return form(deps, visit, { tab, signedIn, application, typed, state: read, status: 400 });
  const asked = { ...actingOn(visit, signedIn), application, scopes: typed.scopes, ...read };
  const make: (inside: ConsoleDeps, grant: typeof asked) => Promise<{ readonly id: string }> =
    tab === "consents" ? grantByAdministrator : createPreauthorization;
  const made = await sent
    .once((database) => make({ ...deps, database }, asked))
    .catch((error: unknown) => refusalOf(error, messages));
  if (!made) return;
  if ("faults" in made)
    return form(deps, visit, { tab, signedIn, application, typed, state: made, status: 400 });
  const done = tab === "consents" ? "granted" : "preauthorized";
  await goTo(visit, consolePath(visit.organisation, `/${tab}?done=${done}`));
}

/** For whom it is, or what is wrong with what was typed. */
async function readGrant(
  { database }: ConsoleDeps,
  { organisation }: Visit,
  tab: ConsentsTab,
  typed: TypedGrant,
  { console: { consents: text } }: Messages,
): Promise<{ userId?: string } | { faults: Record<string, string> }> {
  const scopes: Record<string, string> = typed.scopes.length === 0 ? { scopes: text.faults.scopes } : {};
  const result = (faults: Record<string, string>, found: { userId?: string } = {}) => {
    const every = { ...faults, ...scopes };
    return Object.keys(every).length === 0 ? found : { faults: every };
  };
  if (tab === "preauthorizations" || typed.forWhom === "organisation") return result({});
  if (typed.forWhom !== "user") return result({ forWhom: text.faults.forWhom });
  const account = await findSignInAccount(database.query, organisation.id, emailKey(typed.email));
  return account ? result({}, { userId: account.user.id }) : result({ email: text.faults.email });
}

/** @throws whatever it is that is no fault of what was chosen */
function refusalOf(error: unknown, { console: { consents: text } }: Messages) {
  if (error instanceof InvalidConsent) return { faults: { scopes: text.faults.asked } };
  if (error instanceof ConsentThere) return { faults: { scopes: text.faults.there } };
  throw error;
}
