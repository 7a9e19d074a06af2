/**
 * account/deletion: the account ends, for good. account/leave: a guest's visit ends, and not the account. account/gone: what
 * both lead to; it is there for everybody, because nobody is signed in any more.
 */

import type { FastifyInstance } from "fastify";
import { readerMessages } from "../../console/reader-language.ts";
import { goTo, show, type Visit } from "../../console/visit.ts";
import type { SignedIn } from "../../core/sessions/session.ts";
import { deleteUser, leaveOrganisation } from "../../core/users/leaving/delete-user.ts";
import { LastAdministrator } from "../../core/users/leaving/last-administrator.ts";
import { emailKey } from "../../core/users/user.ts";
import type { FormFailure } from "../../html/console/record-form.ts";
import { stylesheet } from "../../html/stylesheet.ts";
import { formOf, queryOf } from "../../http/form-body.ts";
import { newNonce } from "../../http/page.ts";
import {
  type AccountDeps,
  accountFrame,
  accountPath,
  accountRoute,
  isAtHome,
  mayChange,
  originOf,
  pageOrganisation,
} from "./account-page.ts";
import { deletionPage, gonePage, leavePage } from "./deletion.page.ts";

const DELETION = "deletion";
const LEAVE = "leave";
const GONE = "gone";

export function deletionRoutes(app: FastifyInstance, deps: AccountDeps): void {
  for (const way of [DELETION, LEAVE] as const)
    accountRoute(app, deps, way, {
      get: async (visit) => {
        const signedIn = await mayGo(deps, visit, way);
        if (signedIn) await ask(deps, visit, signedIn, way);
      },
      post: async (visit) => {
        const signedIn = await mayGo(deps, visit, way);
        if (signedIn) await go(deps, visit, signedIn, way);
      },
    });
  accountRoute(app, deps, GONE, { get: showGone });
}

type Way = typeof DELETION | typeof LEAVE;

/** At home one deletes, if the organisation leaves that to its users; elsewhere one leaves. */
async function mayGo(deps: AccountDeps, visit: Visit, way: Way): Promise<SignedIn | undefined> {
  const { organisation } = visit;
  const signedIn = await mayChange(deps, visit, accountPath(organisation, way), { ofAccount: false });
  if (!signedIn) return undefined;
  const isHome = isAtHome(organisation, signedIn.user);
  const isOpen = way === DELETION ? isHome && organisation.settings.allowAccountDeletion : !isHome;
  if (isOpen) return signedIn;
  await goTo(visit, accountPath(organisation, "data"));
  return undefined;
}

interface Shown {
  readonly failure?: FormFailure;
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
    csrf: deps.door.formBinding(visit).csrf,
    action: accountPath(organisation, way),
    backUri: accountPath(organisation, "data"),
  };
  return show(visit, frame, way === DELETION ? deletionPage(view) : leavePage(view), status);
}

async function go(deps: AccountDeps, visit: Visit, signedIn: SignedIn, way: Way): Promise<void> {
  const { organisation } = visit;
  const { user } = signedIn;
  const { values } = formOf(visit.request);
  const again = (shown: Shown) => ask(deps, visit, signedIn, way, shown);
  if (!deps.door.isOwnForm(visit, values.get("csrf")))
    return again({ failure: { kind: "expired" }, status: 403 });
  const typedName = values.get("name") ?? "";
  if (way === DELETION && emailKey(typedName) !== emailKey(user.email))
    return again({ typedName, isWrongName: true, status: 400 });
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
      text: text.lastAdministratorText(name),
    } as const;
    return again({ typedName, failure, status: 409 });
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
