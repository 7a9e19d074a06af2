/**
 * account/deletion: deletes the account. account/leave: a guest leaves the organisation and keeps the account.
 * account/gone: the page after both; needs no session, as there is none any more.
 */

import type { FastifyInstance } from "fastify";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { deleteUser, leaveOrganisation } from "../../../core/users/leaving/delete-user.ts";
import { LastAdministrator } from "../../../core/users/leaving/last-administrator.ts";
import { emailKey } from "../../../core/users/user.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import { stylesheet } from "../../../html/stylesheet.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { newNonce } from "../../../http/page.ts";
import { redirectTo, show, type Visit } from "../../../page-kit/page.ts";
import { readerMessages } from "../../../page-kit/reader-language.ts";
import { acceptAccountForm, askForIdentity } from "../account-form.ts";
import {
  type AccountDeps,
  accountFrame,
  accountPath,
  accountRoute,
  type ChangePolicy,
  isHomeUser,
  pageOrganisation,
  requestOrigin,
  requireRecentSignIn,
} from "../account-page.ts";
import { deletionPage, gonePage, leavePage } from "./deletion.page.ts";

const DELETION = "deletion";
const LEAVE = "leave";
const GONE = "gone";

export function deletionRoutes(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/deletion", {
    get: (visit) => showQuestion(deps, visit, DELETION),
    post: (visit) => remove(deps, visit, DELETION),
  });
  accountRoute(app, deps, "/oauth/:org/account/leave", {
    get: (visit) => showQuestion(deps, visit, LEAVE),
    post: (visit) => remove(deps, visit, LEAVE),
  });
  accountRoute(app, deps, "/oauth/:org/account/gone", { get: showGone });
}

async function showQuestion(deps: AccountDeps, visit: Visit, kind: RemovalKind): Promise<void> {
  const path = accountPath(visit.organisation, kind);
  const signedIn = await requireRecentSignIn(deps, visit, path, exitPolicy(visit, kind));
  await askToConfirm(deps, visit, signedIn, kind);
}

type RemovalKind = typeof DELETION | typeof LEAVE;

/** Members delete, if the organisation allows it; guests leave. */
const exitPolicy = (visit: Visit, kind: RemovalKind): ChangePolicy => ({
  allowsGuests: true,
  redirectIfUnavailable: ({ user }) => {
    const { organisation } = visit;
    const isHome = isHomeUser(organisation, user);
    const isOpen = kind === DELETION ? isHome && organisation.settings.allowAccountDeletion : !isHome;
    return isOpen ? undefined : accountPath(organisation, "data");
  },
});

interface FormState {
  readonly failure?: FormFailure | undefined;
  readonly typedName?: string;
  readonly isWrongName?: boolean;
  readonly status?: number;
}

function askToConfirm(
  deps: AccountDeps,
  visit: Visit,
  { user }: SignedIn,
  kind: RemovalKind,
  { status = 200, ...state }: FormState = {},
): Promise<void> {
  const { organisation } = visit;
  const frame = accountFrame(visit, user, "data");
  const view = {
    ...frame,
    ...state,
    csrf: deps.browserSession.formBinding(visit).csrf,
    action: accountPath(organisation, kind),
    backUri: accountPath(organisation, "data"),
  };
  return show(visit, frame, kind === DELETION ? deletionPage(view) : leavePage(view), status);
}

async function remove(deps: AccountDeps, visit: Visit, kind: RemovalKind): Promise<void> {
  const { organisation } = visit;
  const form = await acceptAccountForm(deps, visit, accountPath(organisation, kind), exitPolicy(visit, kind));
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const { user } = signedIn;
  const typedName = form.values.get("name") ?? "";
  const rerender = (state: FormState) => askToConfirm(deps, visit, signedIn, kind, { typedName, ...state });
  if (form.outcome === "rejected") return rerender(form.refusal);
  if (kind === DELETION && emailKey(typedName) !== emailKey(user.email))
    return rerender({ isWrongName: true, status: 400 });
  const removal = {
    ...requestOrigin(visit, user),
    orgId: organisation.id,
    id: user.id,
    actor: `user:${user.id}`,
  };
  try {
    await (kind === DELETION ? deleteUser(deps, removal) : leaveOrganisation(deps, removal));
  } catch (error) {
    if (!(error instanceof LastAdministrator)) throw error;
    const text = accountFrame(visit, user, "data").messages.console.account.deletion;
    const name = (await deps.organisations.find(error.orgId))?.name ?? organisation.name;
    const failure = {
      kind: "refused",
      title: text.lastAdministrator,
      text: text.lastAdministratorText({ organisation: name }),
    } as const;
    return rerender({ failure, status: 409 });
  }
  // An account deleted meanwhile is the requested result.
  return redirectTo(visit, accountPath(organisation, kind === DELETION ? GONE : `${GONE}?what=left`));
}

function showGone(visit: Visit): Promise<void> {
  const frame = {
    messages: readerMessages(visit.request, undefined, visit.organisation),
    nonce: newNonce(),
    stylesheet: stylesheet.path,
  };
  const hasLeft = parseQuery(visit.request).values.get("what") === "left";
  return show(
    visit,
    frame,
    gonePage({ ...frame, organisation: pageOrganisation(visit.organisation), hasLeft }),
  );
}
