/** system-accounts/new: the application first, found by its name; then one short form. The secret key is shown once. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { findApplication, searchApplications } from "../../../core/applications/applications.store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { SystemAccount } from "../../../core/system-accounts/system-account.ts";
import {
  createSystemAccount,
  isAccountName,
  type NewKey,
} from "../../../core/system-accounts/system-accounts.ts";
import { shownOncePage } from "../../../html/components/act.page.ts";
import type { FormState } from "../../../html/components/form-state.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import { copyScript } from "../../../html/scripts.ts";
import { queryOf } from "../../../http/form-body.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { making, newOnce, type Refusal } from "../../../page-kit/made-once.ts";
import type { Submission } from "../../../page-kit/sent-form.ts";
import {
  actingOn,
  consolePath,
  consoleRoute,
  goTo,
  provenAdministrator,
  queryText,
  show,
  type Visit,
} from "../../../page-kit/visit.ts";
import { type AccountsDeps, accountCrumbs, accountPath, listCrumb } from "./account-visit.ts";
import { chooseApplicationPage, newAccountPage, type TypedAccount } from "./new.page.ts";
import { curlLines, environmentLines, sdkLines } from "./snippets.ts";

const REST = "/system-accounts/new";
/** Who sees more than these types more of the name. */
const MOST_CHOICES = 25;

export function newAccountRoute(app: FastifyInstance, deps: AccountsDeps): void {
  consoleRoute(app, deps, REST, {
    get: async (visit) => {
      const { values } = queryOf(visit.request);
      const [id, search] = [values.get("application"), (values.get("search") ?? "").trim().slice(0, 100)];
      const signedIn = await provenAdministrator(deps, visit, pathOf(visit, id, search));
      if (!signedIn) return;
      const application = await applicationOf(deps, visit, id);
      if (application) await form(deps, visit, signedIn, { application, typed: emptyAccount });
      else await choose(deps, visit, signedIn, search);
    },
    post: (visit) => create(deps, visit),
  });
}

const pathOf = ({ organisation }: Visit, application?: string, search?: string): string =>
  consolePath(organisation, `${REST}${queryText({ application, search })}`);

async function applicationOf(
  { database }: AccountsDeps,
  { organisation }: Visit,
  id = "",
): Promise<Application | undefined> {
  return isUuid(id) ? findApplication(database.query, organisation.id, id.toLowerCase()) : undefined;
}

async function choose(deps: AccountsDeps, visit: Visit, signedIn: SignedIn, search: string): Promise<void> {
  const { organisation } = visit;
  const frame = await consoleFrame(deps, visit, signedIn, "systemAccounts");
  const text = search === "" ? undefined : search;
  const found = await searchApplications(deps.database.query, organisation.id, {
    text,
    limit: MOST_CHOICES + 1,
  });
  const page = chooseApplicationPage({
    ...frame,
    breadcrumbs: [listCrumb(organisation, frame.messages)],
    action: pathOf(visit),
    search,
    applications: found.slice(0, MOST_CHOICES).map(({ id, name }) => ({ id, name, uri: pathOf(visit, id) })),
    hasMore: found.length > MOST_CHOICES,
    newApplicationUri: consolePath(organisation, "/applications/new"),
  });
  await show(visit, frame, page);
}

const emptyAccount: TypedAccount = { name: "", kind: "plain", isStrict: true };

const readAccount = (values: ReadonlyMap<string, string>): TypedAccount => ({
  name: (values.get("name") ?? "").trim(),
  kind: values.get("kind") === "administrator" ? "administrator" : "plain",
  isStrict: values.get("strict") === "on",
});

interface Shown {
  readonly application: Application;
  readonly typed: TypedAccount;
  readonly state?: FormState;
  readonly failure?: FormFailure;
  readonly status?: number;
}

async function form(deps: AccountsDeps, visit: Visit, signedIn: SignedIn, shown: Shown): Promise<void> {
  const { application, typed, state = {}, failure, status } = shown;
  const { organisation } = visit;
  const frame = await consoleFrame(deps, visit, signedIn, "systemAccounts");
  const page = newAccountPage({
    ...frame,
    breadcrumbs: [listCrumb(organisation, frame.messages)],
    application,
    typed,
    state,
    failure,
    csrf: deps.door.formBinding(visit).csrf,
    once: newOnce(deps),
    action: pathOf(visit),
    cancelUri: consolePath(organisation, "/system-accounts"),
  });
  await show(visit, frame, page, status);
}

async function create(deps: AccountsDeps, visit: Visit): Promise<void> {
  const again = async (signedIn: SignedIn, values: ReadonlyMap<string, string>, more: Partial<Shown>) => {
    const application = await applicationOf(deps, visit, values.get("application"));
    // Somebody has deleted it, or played with the form: another one is chosen.
    if (!application) return goTo(visit, pathOf(visit));
    await form(deps, visit, signedIn, { application, typed: readAccount(values), ...more });
  };
  const refused = async ({ signedIn, values }: Submission, refusal: Refusal) => {
    const { messages } = await consoleFrame(deps, visit, signedIn, "systemAccounts");
    const application = await applicationOf(deps, visit, values.get("application"));
    if (application) return again(signedIn, values, refusal);
    await refuse(deps, visit, signedIn, messages.console.systemAccounts.faults.application);
  };
  const sent = await making(deps, visit, pathOf(visit), refused, ({ console: { frame } }) => ({
    made: { label: frame.pages.systemAccounts, uri: consolePath(visit.organisation, "/system-accounts") },
    secret: frame.sentBefore.secret.account,
  }));
  if (!sent) return;
  const { signedIn, values } = sent;
  const application = await applicationOf(deps, visit, values.get("application"));
  if (!application) return goTo(visit, pathOf(visit));
  const typed = readAccount(values);
  const { messages } = await consoleFrame(deps, visit, signedIn, "systemAccounts");
  const { faults } = messages.console.systemAccounts;
  if (!isAccountName(typed.name))
    return again(signedIn, values, { state: { faults: { name: faults.name } }, status: 400 });
  const wanted = {
    ...actingOn(visit, signedIn),
    applicationId: application.id,
    name: typed.name,
    isAdministrator: typed.kind === "administrator",
    requiresStrictSignature: typed.isStrict,
  };
  const made = await sent.once((database) => createSystemAccount({ ...deps, database }, wanted));
  if (made) await showKeys(deps, visit, signedIn, made);
}

/** A form that is none of ours, about nothing: there is no page to show again but this one. */
async function refuse(deps: AccountsDeps, visit: Visit, signedIn: SignedIn, fault: string): Promise<void> {
  const frame = await consoleFrame(deps, visit, signedIn, "systemAccounts");
  const page = chooseApplicationPage({
    ...frame,
    breadcrumbs: [listCrumb(visit.organisation, frame.messages)],
    action: pathOf(visit),
    search: "",
    applications: [],
    hasMore: false,
    newApplicationUri: consolePath(visit.organisation, "/applications/new"),
    fault,
  });
  await show(visit, frame, page, 403);
}

/** Both keys, this once, with the lines that call with them. */
export async function showKeys(
  deps: AccountsDeps,
  visit: Visit,
  signedIn: SignedIn,
  { account, key, secret }: NewKey & { account: SystemAccount },
  title?: string,
): Promise<void> {
  const { organisation } = visit;
  const frame = await consoleFrame(deps, visit, signedIn, "systemAccounts");
  const { create: text, snippets } = frame.messages.console.systemAccounts;
  const caller = { isAdministrator: account.isAdministrator, publicKey: key.publicKey };
  const page = shownOncePage({
    ...frame,
    breadcrumbs: accountCrumbs(organisation, account, frame.messages),
    title: title ?? text.shownTitle({ name: account.name }),
    text: text.shownText,
    values: [
      { id: "keys", title: text.keys, lines: environmentLines({ publicKey: key.publicKey, secret }) },
      { id: "sdk", title: snippets.sdk, lines: sdkLines(deps.baseUrl, caller) },
      { id: "curl", title: snippets.curl, lines: curlLines(deps.baseUrl, caller) },
    ],
    doneUri: accountPath(organisation, account.id),
    script: copyScript.path,
  });
  await show(visit, frame, page);
}
