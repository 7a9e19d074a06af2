/**
 * account/address: requests a new email address. The link goes to the new address (recovery/action.route.ts); the old one
 * stays valid until the link is used, then gets a notice. The response doesn't reveal whether the address is taken.
 */

import type { FastifyInstance } from "fastify";
import { countAttempt, networkPrefix, RateLimited } from "../../../core/rate-limits/rate-limits.ts";
import { requestNewEmail } from "../../../core/users/account-mails.ts";
import { emailKey, isEmail } from "../../../core/users/user.ts";
import {
  type AcceptedForm,
  applyOnce,
  duplicateSubmission,
  newSubmissionToken,
  type Refusal,
  requireFreshNonce,
} from "../../../page-kit/accept-form.ts";
import { show } from "../../../page-kit/page.ts";
import { accountRoute } from "../account-form.ts";
import {
  type AccountDeps,
  type AccountVisit,
  accountFormFrame,
  accountFrame,
  accountPath,
  requestOrigin,
  waitRefusal,
} from "../account-page.ts";
import { addressSentPage, newAddressPage } from "./address.page.ts";

export function addressRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/address", {
    // The service can't send email.
    redirectIfUnavailable: ({ outbox }, { organisation }) =>
      outbox.isOpen ? undefined : accountPath(organisation, "profile"),
    show: (_, visit, rejected) =>
      showForm(deps, visit, rejected && { input: readInput(rejected), ...rejected.refusal }),
    submit: requestAddress,
  });
}

const readInput = ({ values }: Pick<AcceptedForm, "values">): string => (values.get("newEmail") ?? "").trim();

interface FormState extends Partial<Refusal> {
  readonly input?: string;
  readonly fault?: string;
}

function showForm(
  deps: AccountDeps,
  visit: AccountVisit,
  { input = "", status, ...state }: FormState = {},
): Promise<void> {
  const frame = accountFormFrame(deps, visit, "profile");
  const page = newAddressPage({
    ...frame,
    ...state,
    once: newSubmissionToken(deps),
    input,
  });
  return show(visit, frame, page, status);
}

async function requestAddress(deps: AccountDeps, visit: AccountVisit, accepted: AcceptedForm): Promise<void> {
  const { organisation, user, messages } = visit;
  const text = messages.console.account.address;
  const input = readInput(accepted);
  const rerender = (state: FormState) => showForm(deps, visit, { input, ...state });
  const form = requireFreshNonce(deps, visit, accepted);
  if (form.outcome === "rejected") return rerender(form.refusal);
  if (!isEmail(input) || input === user.email) {
    const failure = { kind: "faults", fields: [{ id: "newEmail", label: text.newEmail }] } as const;
    return rerender({ failure, fault: isEmail(input) ? text.same : text.invalid, status: 400 });
  }
  const { address, locale } = requestOrigin(visit);
  const limit = deps.rateLimits["recovery-account"];
  try {
    await countAttempt(deps, organisation.id, [
      { limit: deps.rateLimits["recovery-address"], subject: networkPrefix(address) },
      // Limits both emails by one user and emails to one address.
      { limit, subject: `new-address|${user.id}` },
      { limit, subject: `new-address|${emailKey(input)}` },
    ]);
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    return rerender(waitRefusal(visit, error, text.failed, text.limited));
  }
  const actor = `user:${user.id}`;
  const request = { newEmail: input, actor, address, locale, tellsTaken: false };
  const sent = await applyOnce(deps, form, (inside) => requestNewEmail(inside, user, request));
  if (sent === "duplicate-submission") return rerender(duplicateSubmission());
  const frame = accountFrame(visit, "profile");
  const backUri = accountPath(organisation, "profile");
  return show(visit, frame, addressSentPage({ ...frame, backUri, newEmail: input }));
}
