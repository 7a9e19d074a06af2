/** account/password: changes the password. Ends every session except this browser's, which gets a new one. */

import type { FastifyInstance } from "fastify";
import { PASSWORD_MAX_LENGTH } from "../../../core/passwords/password-policy.ts";
import { RateLimited } from "../../../core/rate-limits/rate-limits.ts";
import { findPasswordChangedAt } from "../../../core/users/account.store.ts";
import { changeOwnPassword } from "../../../core/users/change-password.ts";
import { parseQuery } from "../../../http/form-body.ts";
import type { AcceptedForm, Refusal } from "../../../page-kit/accept-form.ts";
import { retryAfterFullQueue } from "../../../page-kit/full-queue.ts";
import { redirectTo, requestPath, show, type Visit } from "../../../page-kit/page.ts";
import { accountRoute } from "../account-form.ts";
import {
  type AccountDeps,
  type AccountVisit,
  accountFormFrame,
  accountPath,
  refusal,
  requestOrigin,
  waitRefusal,
} from "../account-page.ts";
import { type PasswordFault, passwordPage } from "./password.page.ts";

/** Reason: activity the user doesn't recognise. */
const NOT_ME = "not-me";

const reportsIntrusion = ({ request }: Visit): boolean =>
  parseQuery(request).values.get("because") === NOT_ME;

export const notMePath = ({ organisation }: Pick<Visit, "organisation">): string =>
  accountPath(organisation, `password?because=${NOT_ME}`);

export function passwordRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/password", {
    secrets: ["present", "password"],
    returnTo: (visit) => (reportsIntrusion(visit) ? notMePath(visit) : requestPath(visit)),
    show: (_, visit, rejected) => showForm(deps, visit, rejected?.refusal),
    submit: change,
  });
}

async function showForm(
  deps: AccountDeps,
  visit: AccountVisit,
  { failure, status, fault }: Partial<Refusal> & { readonly fault?: PasswordFault } = {},
): Promise<void> {
  const { organisation, user } = visit;
  const frame = accountFormFrame(deps, visit, "security");
  const page = passwordPage({
    ...frame,
    hasPassword: (await findPasswordChangedAt(deps.database.query, user)) !== null,
    minLength: organisation.settings.passwordMinLength,
    reportsIntrusion: reportsIntrusion(visit),
    recoveryUri: `/oauth/${organisation.id}/recovery`,
    failure,
    fault,
  });
  return show(visit, frame, page, status);
}

async function change(deps: AccountDeps, visit: AccountVisit, { values }: AcceptedForm): Promise<void> {
  const { organisation, signedIn, messages } = visit;
  const text = messages.console.account.password;
  const showFault = (fault: PasswordFault) => {
    const label = fault.id === "present" ? text.present : text.next;
    const failure = { kind: "faults", fields: [{ id: fault.id, label }] } as const;
    return showForm(deps, visit, { failure, fault, status: 400 });
  };
  try {
    const changed = await changeOwnPassword(deps, {
      organisation,
      signedIn,
      present: values.get("present") ?? "",
      password: values.get("password") ?? "",
      origin: requestOrigin(visit),
    });
    if (typeof changed === "object") {
      deps.browserSession.writeSession(visit, changed);
      return await redirectTo(visit, `${accountPath(organisation, "security")}?done=passwordChanged`);
    }
    if (changed === "wrong-password") return await showFault({ id: "present", text: text.wrong });
    if (changed === "same-password") return await showFault({ id: "password", text: text.same });
    const limits = { min: organisation.settings.passwordMinLength, max: PASSWORD_MAX_LENGTH };
    const refused = messages.recovery.refused[changed];
    return await showFault({
      id: "password",
      text: typeof refused === "string" ? refused : refused(limits),
    });
  } catch (error) {
    const title = messages.recovery.notChanged;
    if (error instanceof RateLimited)
      return showForm(deps, visit, waitRefusal(visit, error, title, text.limited));
    const seconds = retryAfterFullQueue(deps, visit, error);
    return showForm(deps, visit, refusal(503, title, text.busy({ seconds })));
  }
}
