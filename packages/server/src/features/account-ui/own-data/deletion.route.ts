/**
 * account/deletion: deletes the account. account/leave: a guest leaves the organisation and keeps the account.
 * account/gone: the page after both; needs no session, as there is none any more.
 */

import type { FastifyInstance } from "fastify";
import { deleteUser, leaveOrganisation } from "../../../core/users/leaving/delete-user.ts";
import { LastAdministrator } from "../../../core/users/leaving/last-administrator.ts";
import { emailKey } from "../../../core/users/user.ts";
import { stylesheet } from "../../../html/stylesheet.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { newNonce } from "../../../http/page.ts";
import type { AcceptedForm, Refusal } from "../../../page-kit/accept-form.ts";
import { pageOrganisation } from "../../../page-kit/console-frame.ts";
import { pageHandler, redirectTo, show, type Visit } from "../../../page-kit/page.ts";
import { readerMessages } from "../../../page-kit/reader-language.ts";
import { type AccountRoute, accountRoute } from "../account-form.ts";
import {
  type AccountDeps,
  type AccountVisit,
  accountFormFrame,
  accountPath,
  isHomeUser,
  refusal,
  requestOrigin,
} from "../account-page.ts";
import { deletionPage, gonePage, leavePage } from "./deletion.page.ts";

type RemovalKind = "deletion" | "leave";

export function deletionRoutes(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/deletion", removalForm("deletion"));
  accountRoute(app, deps, "/oauth/:org/account/leave", removalForm("leave"));
  app.get(
    "/oauth/:org/account/gone",
    pageHandler(deps, (_, visit) => showGone(visit)),
  );
}

const removalForm = (kind: RemovalKind): AccountRoute => ({
  allowsGuests: true,
  redirectIfUnavailable: (_, visit) =>
    isAvailable(visit, kind) ? undefined : accountPath(visit.organisation, "data"),
  show: (deps, visit, rejected) =>
    askToConfirm(
      deps,
      visit,
      kind,
      rejected && { typedName: rejected.values.get("name") ?? "", ...rejected.refusal },
    ),
  submit: (deps, visit, form) => remove(deps, visit, kind, form),
});

/** Members delete, if the organisation allows it; guests leave. */
const isAvailable = (visit: AccountVisit, kind: RemovalKind): boolean =>
  kind === "leave"
    ? !isHomeUser(visit)
    : isHomeUser(visit) && visit.organisation.settings.allowAccountDeletion;

interface FormState extends Partial<Refusal> {
  readonly typedName?: string;
  readonly isWrongName?: boolean;
}

function askToConfirm(
  deps: AccountDeps,
  visit: AccountVisit,
  kind: RemovalKind,
  { status, ...state }: FormState = {},
): Promise<void> {
  const view = { ...accountFormFrame(deps, visit, "data"), ...state };
  return show(visit, view, kind === "deletion" ? deletionPage(view) : leavePage(view), status);
}

async function remove(
  deps: AccountDeps,
  visit: AccountVisit,
  kind: RemovalKind,
  { values }: AcceptedForm,
): Promise<void> {
  const { organisation, user, messages } = visit;
  const typedName = values.get("name") ?? "";
  if (kind === "deletion" && emailKey(typedName) !== emailKey(user.email))
    return askToConfirm(deps, visit, kind, { typedName, isWrongName: true, status: 400 });
  const target = { orgId: organisation.id, id: user.id, actor: `user:${user.id}` };
  const removal = { ...requestOrigin(visit), ...target };
  try {
    await (kind === "deletion" ? deleteUser(deps, removal) : leaveOrganisation(deps, removal));
  } catch (error) {
    if (!(error instanceof LastAdministrator)) throw error;
    const text = messages.console.account.deletion;
    const reason = text.lastAdministratorText({ organisation: organisation.name });
    return askToConfirm(deps, visit, kind, { typedName, ...refusal(409, text.lastAdministrator, reason) });
  }
  // An account deleted meanwhile is the requested result.
  return redirectTo(visit, accountPath(organisation, kind === "deletion" ? "gone" : "gone?what=left"));
}

function showGone(visit: Visit): Promise<void> {
  const { request, organisation } = visit;
  const frame = {
    messages: readerMessages(request, undefined, organisation),
    nonce: newNonce(),
    stylesheet: stylesheet.path,
    organisation: pageOrganisation(organisation),
  };
  const hasLeft = parseQuery(request).values.get("what") === "left";
  return show(visit, frame, gonePage({ ...frame, hasLeft }));
}
