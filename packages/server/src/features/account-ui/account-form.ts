/**
 * Registers account pages, and accepts their forms: same origin, session, CSRF token, and recent authentication where
 * page-kit/recent-sign-in.ts demands it.
 */
import type { FastifyInstance } from "fastify";
import { identityConfirmedPage } from "../../html/components/act.page.ts";
import { parsedForm, parseQuery } from "../../http/form-body.ts";
import {
  type AcceptedForm,
  checkForm,
  type RejectedForm,
  requireSameOrigin,
  type SentForm,
} from "../../page-kit/accept-form.ts";
import { pageHandler, requestPath, show, type Visit } from "../../page-kit/page.ts";
import { showWaitingForm } from "../../page-kit/reauthentication.ts";
import { demandsRecentSignIn } from "../../page-kit/recent-sign-in.ts";
import {
  type AccountDeps,
  type AccountVisit,
  accountFrame,
  accountPath,
  type ChangePolicy,
  requireChangeAllowed,
  requireSignedIn,
} from "./account-page.ts";

export interface AccountRoute<Deps = AccountDeps> extends ChangePolicy<Deps> {
  /** Where the browser returns after signing in; the page itself by default. */
  returnTo?(visit: Visit): string;
  /** @param rejected the form that is shown again */
  show(deps: Deps, visit: AccountVisit, rejected?: RejectedForm): Promise<void>;
  submit?(deps: Deps, visit: AccountVisit, form: AcceptedForm): Promise<void>;
  /** Fields to type again after reauthentication: passwords and codes. */
  readonly secrets?: readonly string[];
  /** Fields bound to the previous session, rebound to outlast it. */
  carried?(deps: Deps, visit: AccountVisit, form: SentForm): Readonly<Record<string, string>>;
}

export function accountRoute<Deps extends AccountDeps>(
  app: FastifyInstance,
  deps: Deps,
  url: `/oauth/:org/account/${string}`,
  route: AccountRoute<Deps>,
): void {
  app.get(
    url,
    pageHandler(deps, (_, visit) => viewAccountPage(deps, visit, route)),
  );
  // Rejected input is shown again even if it isn't valid text (page-kit/accept-form.ts).
  const options = { config: { sanitizesForms: true } };
  if (route.submit)
    app.post(
      url,
      options,
      pageHandler(deps, (_, visit) => submitAccountForm(deps, visit, route)),
    );
}

export async function viewAccountPage<Deps extends AccountDeps>(
  deps: Deps,
  visit: Visit,
  route: AccountRoute<Deps>,
): Promise<void> {
  const returnTo = (route.returnTo ?? requestPath)(visit);
  const account = demandsRecentSignIn(visit.request)
    ? await requireChangeAllowed(deps, visit, returnTo, route, true)
    : await requireSignedIn(deps, visit, returnTo);
  await route.show(deps, account);
}

/** @throws OAuthError 403 for a cross-origin form; SignInRequired, SeeOther */
export async function submitAccountForm<Deps extends AccountDeps>(
  deps: Deps,
  visit: Visit,
  route: AccountRoute<Deps>,
): Promise<void> {
  requireSameOrigin(deps, visit);
  const returnTo = (route.returnTo ?? requestPath)(visit);
  const account = await requireChangeAllowed(deps, visit, returnTo, route, false);
  const { secrets = [] } = route;
  const form = await checkForm(deps, visit, account.signedIn, { secrets });
  if (form.outcome === "reauthenticate") return askForIdentity(deps, account, form, route);
  if (form.outcome === "rejected") return route.show(deps, account, form);
  await route.submit?.(deps, account, form);
}

async function askForIdentity<Deps extends AccountDeps>(
  deps: Deps,
  visit: AccountVisit,
  form: SentForm,
  { secrets = [], carried }: AccountRoute<Deps>,
): Promise<void> {
  await showWaitingForm(deps, visit, form, {
    frame: accountFrame(visit, undefined),
    signInUri: accountPath(visit.organisation, "confirm-identity"),
    secrets,
    carried: carried?.(deps, visit, form) ?? {},
  });
}

/** The record that a page is about: `id` in its query or its form. */
export const requestedId = ({ request }: Visit): string | undefined =>
  (request.method === "POST" ? parsedForm(request) : parseQuery(request)).values.get("id");

/** The page of the record, for `returnTo`. */
export function recordPath(visit: Visit, id = requestedId(visit)): string {
  return id === undefined ? requestPath(visit) : `${requestPath(visit)}?id=${encodeURIComponent(id)}`;
}

/** GET account/confirm-identity: reauthentication in another tab while a form waits (page-kit/reauthentication.ts). */
export function confirmIdentityRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/confirm-identity", {
    allowsGuests: true,
    show: (_, visit) => {
      const frame = accountFrame(visit, undefined);
      return show(visit, frame, identityConfirmedPage(frame));
    },
  });
}
