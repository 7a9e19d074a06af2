/**
 * account/address: another email address. The link goes to the new one and is opened there (recovery/action.route.ts); the
 * old one stays until then, and gets a notice afterwards. Whether the address is somebody else's is not told.
 */

import type { FastifyInstance } from "fastify";
import { goTo, show, type Visit } from "../../console/visit.ts";
import { networkOf } from "../../core/rate-limits/network.ts";
import { countAttempt, RateLimited } from "../../core/rate-limits/rate-limits.ts";
import type { SignedIn } from "../../core/sessions/session.ts";
import { requestNewEmail } from "../../core/users/account-mails.ts";
import { emailKey, isEmail } from "../../core/users/user.ts";
import { formOf } from "../../http/form-body.ts";
import {
  type AccountDeps,
  accountFrame,
  accountPath,
  accountRoute,
  mayChange,
  originOf,
} from "./account-page.ts";
import { newAddressPage, sentPage } from "./address.page.ts";
import { tellWait } from "./wait.ts";

const ADDRESS = "address";

export function addressRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, ADDRESS, {
    get: async (visit) => {
      const signedIn = await mayAsk(deps, visit);
      if (signedIn) await showForm(deps, visit, signedIn);
    },
    post: async (visit) => {
      const signedIn = await mayAsk(deps, visit);
      if (signedIn) await ask(deps, visit, signedIn);
    },
  });
}

/** Without mail there is no link to send: the profile has no button then either. */
async function mayAsk(deps: AccountDeps, visit: Visit): Promise<SignedIn | undefined> {
  const signedIn = await mayChange(deps, visit, accountPath(visit.organisation, ADDRESS));
  if (!signedIn || deps.outbox.isOpen) return signedIn;
  await goTo(visit, accountPath(visit.organisation, "profile"));
  return undefined;
}

interface Shown {
  readonly typed?: string;
  readonly failure?: "expired" | "invalid" | "same" | { waitSeconds: number };
  readonly status?: number;
}

function showForm(deps: AccountDeps, visit: Visit, { user }: SignedIn, shown: Shown = {}): Promise<void> {
  const { organisation } = visit;
  const frame = accountFrame(visit, user, "profile");
  const page = newAddressPage({
    ...frame,
    csrf: deps.door.formBinding(visit).csrf,
    action: accountPath(organisation, ADDRESS),
    backUri: accountPath(organisation, "profile"),
    typed: shown.typed ?? "",
    refusal: shown.failure,
  });
  return show(visit, frame, page, shown.status ?? 200);
}

async function ask(deps: AccountDeps, visit: Visit, signedIn: SignedIn): Promise<void> {
  const { values } = formOf(visit.request);
  const typed = (values.get("newEmail") ?? "").trim();
  const again = (failure: NonNullable<Shown["failure"]>, status: number) =>
    showForm(deps, visit, signedIn, { typed, failure, status });
  if (!deps.door.isOwnForm(visit, values.get("csrf"))) return again("expired", 403);
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
  await requestNewEmail(deps, user, { newEmail: typed, actor, address, locale, tellsTaken: false });
  const frame = accountFrame(visit, user, "profile");
  const backUri = accountPath(organisation, "profile");
  return show(visit, frame, sentPage({ ...frame, backUri, newEmail: typed }));
}
