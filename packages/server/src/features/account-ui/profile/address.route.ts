/**
 * account/address: requests a new email address. The link goes to the new address (recovery/action.route.ts); the old one
 * stays valid until the link is used, then gets a notice. The response doesn't reveal whether the address is taken.
 */

import type { FastifyInstance } from "fastify";
import { countAttempt, networkPrefix, RateLimited } from "../../../core/rate-limits/rate-limits.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { requestNewEmail } from "../../../core/users/account-mails.ts";
import { emailKey, isEmail } from "../../../core/users/user.ts";
import { applyOnce, newSubmissionToken, requireFreshNonce } from "../../../page-kit/accept-form.ts";
import { show, type Visit } from "../../../page-kit/page.ts";
import { acceptAccountForm, askForIdentity } from "../account-form.ts";
import {
  type AccountDeps,
  accountFrame,
  accountPath,
  accountRoute,
  type ChangePolicy,
  requestOrigin,
  requireRecentSignIn,
  setRetryAfter,
} from "../account-page.ts";
import { addressSentPage, type NewAddressView, newAddressPage } from "./address.page.ts";

const ADDRESS = "address";

export function addressRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/address", {
    get: async (visit) => {
      const path = accountPath(visit.organisation, ADDRESS);
      const signedIn = await requireRecentSignIn(deps, visit, path, addressPolicy(deps, visit));
      await showForm(deps, visit, signedIn);
    },
    post: (visit) => requestAddress(deps, visit),
  });
}

/** Unavailable if the service can't send email. */
const addressPolicy = ({ outbox }: AccountDeps, visit: Visit): ChangePolicy => ({
  redirectIfUnavailable: () => (outbox.isOpen ? undefined : accountPath(visit.organisation, "profile")),
});

interface FormState {
  readonly input?: string;
  readonly failure?: NewAddressView["refusal"] | undefined;
  readonly status?: number;
}

function showForm(deps: AccountDeps, visit: Visit, { user }: SignedIn, state: FormState = {}): Promise<void> {
  const { organisation } = visit;
  const frame = accountFrame(visit, user, "profile");
  const page = newAddressPage({
    ...frame,
    csrf: deps.browserSession.formBinding(visit).csrf,
    once: newSubmissionToken(deps),
    action: accountPath(organisation, ADDRESS),
    backUri: accountPath(organisation, "profile"),
    input: state.input ?? "",
    refusal: state.failure,
  });
  return show(visit, frame, page, state.status ?? 200);
}

async function requestAddress(deps: AccountDeps, visit: Visit): Promise<void> {
  const path = accountPath(visit.organisation, ADDRESS);
  const accepted = await acceptAccountForm(deps, visit, path, addressPolicy(deps, visit));
  const form = requireFreshNonce(deps, visit, accepted);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const input = (form.values.get("newEmail") ?? "").trim();
  const rerender = (failure: FormState["failure"], status: number) =>
    showForm(deps, visit, signedIn, { input, failure, status });
  if (form.outcome === "rejected") return rerender(form.refusal.failure?.kind, form.refusal.status);
  if (!isEmail(input)) return rerender("invalid", 400);
  const { organisation } = visit;
  const { user } = signedIn;
  if (input === user.email) return rerender("same", 400);
  const { address, locale } = requestOrigin(visit, user);
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
    setRetryAfter(visit, error);
    return rerender({ waitSeconds: error.retryAfterSeconds }, 429);
  }
  const actor = `user:${user.id}`;
  const request = { newEmail: input, actor, address, locale, tellsTaken: false };
  const sent = await applyOnce(deps, form, (inside) => requestNewEmail(inside, user, request));
  if (sent === "duplicate-submission") return rerender("sent", 409);
  const frame = accountFrame(visit, user, "profile");
  const backUri = accountPath(organisation, "profile");
  return show(visit, frame, addressSentPage({ ...frame, backUri, newEmail: input }));
}
