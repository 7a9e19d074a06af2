/**
 * account/address: another email address. The link goes to the new one and is opened there (recovery/action.route.ts); the
 * old one stays until then, and gets a notice afterwards. Whether the address is somebody else's is not told.
 */

import type { FastifyInstance } from "fastify";
import { networkOf } from "../../../core/rate-limits/network.ts";
import { countAttempt, RateLimited } from "../../../core/rate-limits/rate-limits.ts";
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
  type Change,
  originOf,
  requireRecentChanger,
} from "../account-page.ts";
import { tellWait } from "../wait.ts";
import { type NewAddressView, newAddressPage, sentPage } from "./address.page.ts";

const ADDRESS = "address";

export function addressRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/address", {
    get: async (visit) => {
      const path = accountPath(visit.organisation, ADDRESS);
      const signedIn = await requireRecentChanger(deps, visit, path, askable(deps, visit));
      await showForm(deps, visit, signedIn);
    },
    post: (visit) => ask(deps, visit),
  });
}

/** Without mail there is no link to send: the profile has no button then either. */
const askable = ({ outbox }: AccountDeps, visit: Visit): Change => ({
  redirectIfClosed: () => (outbox.isOpen ? undefined : accountPath(visit.organisation, "profile")),
});

interface Shown {
  readonly typed?: string;
  readonly failure?: NewAddressView["refusal"] | undefined;
  readonly status?: number;
}

function showForm(deps: AccountDeps, visit: Visit, { user }: SignedIn, shown: Shown = {}): Promise<void> {
  const { organisation } = visit;
  const frame = accountFrame(visit, user, "profile");
  const page = newAddressPage({
    ...frame,
    csrf: deps.browserSession.formBinding(visit).csrf,
    once: newSubmissionToken(deps),
    action: accountPath(organisation, ADDRESS),
    backUri: accountPath(organisation, "profile"),
    typed: shown.typed ?? "",
    refusal: shown.failure,
  });
  return show(visit, frame, page, shown.status ?? 200);
}

async function ask(deps: AccountDeps, visit: Visit): Promise<void> {
  const path = accountPath(visit.organisation, ADDRESS);
  const accepted = await acceptAccountForm(deps, visit, path, askable(deps, visit));
  const form = requireFreshNonce(deps, visit, accepted);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const typed = (form.values.get("newEmail") ?? "").trim();
  const again = (failure: Shown["failure"], status: number) =>
    showForm(deps, visit, signedIn, { typed, failure, status });
  if (form.outcome === "rejected") return again(form.refusal.failure?.kind, form.refusal.status);
  if (!isEmail(typed)) return again("invalid", 400);
  const { organisation } = visit;
  const { user } = signedIn;
  if (typed === user.email) return again("same", 400);
  const { address, locale } = originOf(visit, user);
  const limit = deps.rateLimits["recovery-account"];
  try {
    await countAttempt(deps, organisation.id, [
      { limit: deps.rateLimits["recovery-address"], subject: networkOf(address) },
      // Who asks, and who would get the mails: neither a stranger's mailbox nor many of them are filled.
      { limit, subject: `new-address|${user.id}` },
      { limit, subject: `new-address|${emailKey(typed)}` },
    ]);
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    tellWait(visit, error);
    return again({ waitSeconds: error.retryAfterSeconds }, 429);
  }
  const actor = `user:${user.id}`;
  const wanted = { newEmail: typed, actor, address, locale, tellsTaken: false };
  const sent = await applyOnce(deps, form, (inside) => requestNewEmail(inside, user, wanted));
  if (sent === "duplicate-submission") return again("sent", 409);
  const frame = accountFrame(visit, user, "profile");
  const backUri = accountPath(organisation, "profile");
  return show(visit, frame, sentPage({ ...frame, backUri, newEmail: typed }));
}
