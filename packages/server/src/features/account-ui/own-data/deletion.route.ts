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
import { readerMessages } from "../../../page-kit/reader-language.ts";
import type { Submission } from "../../../page-kit/sent-form.ts";
import { goTo, show, type Visit } from "../../../page-kit/visit.ts";
import { accountSubmission } from "../account-form.ts";
import {
  type AccountDeps,
  accountFrame,
  accountPath,
  accountRoute,
  type Change,
  isAtHome,
  mayChange,
  originOf,
  pageOrganisation,
} from "../account-page.ts";
import { deletionPage, gonePage, leavePage } from "./deletion.page.ts";

const DELETION = "deletion";
const LEAVE = "leave";
const GONE = "gone";

export function deletionRoutes(app: FastifyInstance, deps: AccountDeps): void {
  for (const way of [DELETION, LEAVE] as const)
    accountRoute(app, deps, way, {
      get: async (visit) => {
        const path = accountPath(visit.organisation, way);
        const signedIn = await mayChange(deps, visit, path, openTo(visit, way));
        if (signedIn) await ask(deps, visit, signedIn, way);
      },
      post: (visit) => go(deps, visit, way),
    });
  accountRoute(app, deps, GONE, { get: showGone });
}

type Way = typeof DELETION | typeof LEAVE;

/** At home one deletes, if the organisation leaves that to its users; elsewhere one leaves. */
const openTo = (visit: Visit, way: Way): Change => ({
  byGuests: true,
  isOpen: async ({ user }) => {
    const { organisation } = visit;
    const isHome = isAtHome(organisation, user);
    const isOpen = way === DELETION ? isHome && organisation.settings.allowAccountDeletion : !isHome;
    if (!isOpen) await goTo(visit, accountPath(organisation, "data"));
    return isOpen;
  },
});

const typedNameIn = ({ values }: Submission): string => values.get("name") ?? "";

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

async function go(deps: AccountDeps, visit: Visit, way: Way): Promise<void> {
  const { organisation } = visit;
  const sent = await accountSubmission(deps, visit, accountPath(organisation, way), {
    ...openTo(visit, way),
    again: (old, kind = "expired") =>
      ask(deps, visit, old.signedIn, way, {
        typedName: typedNameIn(old),
        failure: { kind },
        status: 403,
      }),
  });
  if (!sent) return;
  const { signedIn } = sent;
  const { user } = signedIn;
  const again = (shown: Shown) => ask(deps, visit, signedIn, way, shown);
  const typedName = typedNameIn(sent);
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
      text: text.lastAdministratorText({ organisation: name }),
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
