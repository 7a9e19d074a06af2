/** An emailed link: opens it, and shows that it is broken or done. GET changes nothing, because mail scanners follow links. */
import { findOpenAction, type NamedAction } from "../../../core/actions/actions.ts";
import type { ActionType, UserAction } from "../../../core/actions/user-action.ts";
import type { User } from "../../../core/users/user.ts";
import { findUser } from "../../../core/users/users.store.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { type BrowserDeps, flowPath, orgPath, redirectTo, show, type Visit } from "../authorize/browser.ts";
import type { Flow } from "../authorize/flow.ts";
import { brokenLinkPage, donePage } from "./new-password.page.ts";
import { loadRecoveryContext } from "./recovery-context.ts";

export interface OpenLink {
  readonly named: NamedAction;
  readonly action: UserAction;
  readonly user: User;
}

/** Undefined if it is unknown, used, expired, of another organisation, or its user has been disabled or has another address. */
export async function openLink(
  deps: BrowserDeps,
  { organisation, request }: Visit,
  type: ActionType,
): Promise<OpenLink | undefined> {
  const { id = "" } = request.params as { id?: string };
  const named = { orgId: organisation.id, type, id };
  const action = await findOpenAction(deps.database.query, deps, named);
  const user = action && (await findUser(deps.database.query, organisation.id, action.userId));
  if (!action || !user || user.disabledAt !== null) return undefined;
  // The link proves control of the mailbox that it was sent to, and of no other.
  return user.email === action.data.email ? { named, action, user } : undefined;
}

export async function showBrokenLink(
  deps: BrowserDeps,
  visit: Visit,
  type: ActionType | "SignIn",
): Promise<void> {
  const context = await loadRecoveryContext(deps, visit, undefined, undefined);
  const anotherUri = type === "ResetPassword" ? orgPath(visit.organisation, "recovery") : undefined;
  const page = brokenLinkPage({ ...context, anotherUri, isSignIn: type === "SignIn" });
  return show(visit, context, page, { status: 404 });
}

/** The done page has no session, so its query carries the user's language. */
export function redirectToResult(
  deps: BrowserDeps,
  visit: Visit,
  path: "recovery/done" | "verify-email/done",
  {
    flow,
    user: { locale },
    hasEnded = false,
  }: { readonly flow: Flow | undefined; readonly user: User; readonly hasEnded?: boolean },
): Promise<void> {
  const done = flowPath(deps, visit, path, flow);
  const query = new URLSearchParams({
    ...(locale === null ? {} : { language: locale }),
    ...(hasEnded ? { [ENDED]: "true" } : {}),
  }).toString();
  return redirectTo(visit, query === "" ? done : `${done}${flow ? "&" : "?"}${query}`);
}

/** In the query of the done page: the password has ended with the proof. */
const ENDED = "ended";

export async function showDone(
  deps: BrowserDeps,
  visit: Visit,
  area: "recovery" | "verifyEmail",
  securityUri?: string,
): Promise<void> {
  const { values } = parseQuery(visit.request);
  const user = { locale: values.get("language") ?? null };
  const context = await loadRecoveryContext(deps, visit, values.get("flow"), user);
  const text: Pick<Messages["recovery"], "doneHeading" | "done"> = context.messages[area];
  const name = { organisation: context.organisation.name };
  const hasEnded = area === "verifyEmail" && values.get(ENDED) === "true";
  const page = donePage({
    ...context,
    heading: text.doneHeading,
    text: hasEnded ? context.messages.verifyEmail.passwordEnded(name) : text.done(name),
    onwardUri: context.flow && flowPath(deps, visit, "authorize", context.flow),
    recoveryUri: hasEnded ? flowPath(deps, visit, "recovery", context.flow) : undefined,
    securityUri,
  });
  return show(visit, context, page);
}
