/**
 * account/deletion: the account ends, for good. account/leave: a guest's visit ends, and not the account. account/gone: what
 * both lead to; it is there for everybody, because nobody is signed in any more.
 */

import type { FastifyInstance } from "fastify";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { deleteUser, leaveOrganisation } from "../../../core/users/leaving/delete-user.ts";
import { LastAdministrator } from "../../../core/users/leaving/last-administrator.ts";
import { emailKey } from "../../../core/users/user.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import { stylesheet } from "../../../html/stylesheet.ts";
import { queryOf } from "../../../http/form-body.ts";
import { newNonce } from "../../../http/page.ts";
import { goTo, show, type Visit } from "../../../page-kit/page.ts";
import { readerMessages } from "../../../page-kit/reader-language.ts";
import { acceptAccountForm, askForIdentity } from "../account-form.ts";
import {
  type AccountDeps,
  accountFrame,
  accountPath,
  accountRoute,
  type Change,
  isAtHome,
  originOf,
  pageOrganisation,
  requireRecentChanger,
} from "../account-page.ts";
import { deletionPage, gonePage, leavePage } from "./deletion.page.ts";

const DELETION = "deletion";
const LEAVE = "leave";
const GONE = "gone";

export function deletionRoutes(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/deletion", {
    get: (visit) => showQuestion(deps, visit, DELETION),
    post: (visit) => go(deps, visit, DELETION),
  });
  accountRoute(app, deps, "/oauth/:org/account/leave", {
    get: (visit) => showQuestion(deps, visit, LEAVE),
    post: (visit) => go(deps, visit, LEAVE),
  });
  accountRoute(app, deps, "/oauth/:org/account/gone", { get: showGone });
}

async function showQuestion(deps: AccountDeps, visit: Visit, way: Way): Promise<void> {
  const path = accountPath(visit.organisation, way);
  const signedIn = await requireRecentChanger(deps, visit, path, openTo(visit, way));
  await ask(deps, visit, signedIn, way);
}

type Way = typeof DELETION | typeof LEAVE;

/** At home one deletes, if the organisation leaves that to its users; elsewhere one leaves. */
const openTo = (visit: Visit, way: Way): Change => ({
  byGuests: true,
  redirectIfClosed: ({ user }) => {
    const { organisation } = visit;
    const isHome = isAtHome(organisation, user);
    const isOpen = way === DELETION ? isHome && organisation.settings.allowAccountDeletion : !isHome;
    return isOpen ? undefined : accountPath(organisation, "data");
  },
});

interface Shown {
  readonly failure?: FormFailure | undefined;
  readonly typedName?: string;
  readonly isWrongName?: boolean;
  readonly status?: number;
}

function ask(
  deps: AccountDeps,
  visit: Visit,
  { user }: SignedIn,
  way: Way,
  { status = 200, ...shown }: Shown = {},
): Promise<void> {
  const { organisation } = visit;
  const frame = accountFrame(visit, user, "data");
  const view = {
    ...frame,
    ...shown,
    csrf: deps.browserSession.formBinding(visit).csrf,
    action: accountPath(organisation, way),
    backUri: accountPath(organisation, "data"),
  };
  return show(visit, frame, way === DELETION ? deletionPage(view) : leavePage(view), status);
}

async function go(deps: AccountDeps, visit: Visit, way: Way): Promise<void> {
  const { organisation } = visit;
  const form = await acceptAccountForm(deps, visit, accountPath(organisation, way), openTo(visit, way));
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const { user } = signedIn;
  const typedName = form.values.get("name") ?? "";
  const rerender = (shown: Shown) => ask(deps, visit, signedIn, way, { typedName, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);
  if (way === DELETION && emailKey(typedName) !== emailKey(user.email))
    return rerender({ isWrongName: true, status: 400 });
  const leaving = { ...originOf(visit, user), orgId: organisation.id, id: user.id, actor: `user:${user.id}` };
  try {
    await (way === DELETION ? deleteUser(deps, leaving) : leaveOrganisation(deps, leaving));
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
  // Somebody who has deleted it meanwhile did what was asked for.
  return goTo(visit, accountPath(organisation, way === DELETION ? GONE : `${GONE}?what=left`));
}

function showGone(visit: Visit): Promise<void> {
  const frame = {
    messages: readerMessages(visit.request, undefined, visit.organisation),
    nonce: newNonce(),
    stylesheet: stylesheet.path,
  };
  const hasLeft = queryOf(visit.request).values.get("what") === "left";
  return show(
    visit,
    frame,
    gonePage({ ...frame, organisation: pageOrganisation(visit.organisation), hasLeft }),
  );
}
