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
import { goodOnce, newOnce, type Refusal } from "../../../page-kit/made-once.ts";
import type { Submission } from "../../../page-kit/sent-form.ts";
import { goTo, show, type Visit } from "../../../page-kit/visit.ts";
import { accountSubmission } from "../account-form.ts";
import {
  type AccountDeps,
  accountFrame,
  accountPath,
  accountRoute,
  type Change,
  mayChange,
  originOf,
} from "../account-page.ts";
import { tellWait } from "../wait.ts";
import { type NewAddressView, newAddressPage, sentPage } from "./address.page.ts";

const ADDRESS = "address";

export function addressRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, ADDRESS, {
    get: async (visit) => {
      const path = accountPath(visit.organisation, ADDRESS);
      const signedIn = await mayChange(deps, visit, path, askable(deps, visit));
      if (signedIn) await showForm(deps, visit, signedIn);
    },
    post: (visit) => ask(deps, visit),
  });
}

/** Without mail there is no link to send: the profile has no button then either. */
const askable = ({ outbox }: AccountDeps, visit: Visit): Change => ({
  isOpen: async () => {
    if (!outbox.isOpen) await goTo(visit, accountPath(visit.organisation, "profile"));
    return outbox.isOpen;
  },
});

const typedIn = ({ values }: Submission): string => (values.get("newEmail") ?? "").trim();

interface Shown {
  readonly typed?: string;
  readonly failure?: NewAddressView["refusal"];
  readonly status?: number;
}

function showForm(deps: AccountDeps, visit: Visit, { user }: SignedIn, shown: Shown = {}): Promise<void> {
  const { organisation } = visit;
  const frame = accountFrame(visit, user, "profile");
  const page = newAddressPage({
    ...frame,
    csrf: deps.door.formBinding(visit).csrf,
    once: newOnce(deps),
    action: accountPath(organisation, ADDRESS),
    backUri: accountPath(organisation, "profile"),
    typed: shown.typed ?? "",
    refusal: shown.failure,
  });
  return show(visit, frame, page, shown.status ?? 200);
}

const refused =
  (deps: AccountDeps, visit: Visit) =>
  (old: Submission, { failure, status }: Refusal): Promise<void> => {
    const kind = failure.kind === "sent" ? "sent" : "expired";
    return showForm(deps, visit, old.signedIn, { typed: typedIn(old), failure: kind, status });
  };

async function ask(deps: AccountDeps, visit: Visit): Promise<void> {
  const received = await accountSubmission(deps, visit, accountPath(visit.organisation, ADDRESS), {
    ...askable(deps, visit),
    again: (old, failure) =>
      showForm(deps, visit, old.signedIn, { typed: typedIn(old), failure, status: 403 }),
  });
  const sent = received && (await goodOnce(deps, visit, received, refused(deps, visit), () => ({})));
  if (!sent) return;
  const { signedIn } = sent;
  const typed = typedIn(sent);
  const again = (failure: NonNullable<Shown["failure"]>, status: number) =>
    showForm(deps, visit, signedIn, { typed, failure, status });
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
  const isSent = await sent.once(async (database) => {
    await requestNewEmail({ ...deps, database }, user, wanted);
    return true;
  });
  if (!isSent) return;
  const frame = accountFrame(visit, user, "profile");
  const backUri = accountPath(organisation, "profile");
  return show(visit, frame, sentPage({ ...frame, backUri, newEmail: typed }));
}
