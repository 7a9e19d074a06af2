/** The mails with a link: the link, the mail and the audit event are written together or not at all. */

import { nobody } from "../../../core/actions/actions.ts";
import { sendLinkMail } from "../../../core/actions/link-mail.ts";
import { issuerOf, type Organisation } from "../../../core/organisations/organisation.ts";
import { emailKey, type User } from "../../../core/users/user.ts";
import { findUserByEmail } from "../../../core/users/users.store.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import type { BrowserDeps, Visit } from "../authorize/browser.ts";
import type { Flow } from "../authorize/flow.ts";

export interface AskedFor {
  /** The sign-in that the link goes on with. */
  readonly flow: Flow | undefined;
  /** The language of the page, for users who have chosen none. */
  readonly locale: string;
}

/**
 * A link to set a new password, to the address of an account; for an address that is none's the same statements with
 * rows that do nothing, so that neither the answer nor its time tells which it was.
 */
export async function sendResetMail(
  deps: BrowserDeps,
  visit: Visit,
  email: string,
  asked: AskedFor,
): Promise<void> {
  const { organisation } = visit;
  const found = await findUserByEmail(deps.database.query, organisation.id, emailKey(email));
  const receiver = found?.user.disabledAt === null ? { user: found.user, home: organisation } : undefined;
  await send(deps, visit, "ResetPassword", receiver, { email, asked });
}

/** A link to show that the address of an account is its owner's. */
export async function sendVerifyMail(
  deps: BrowserDeps,
  visit: Visit,
  user: User,
  asked: AskedFor,
): Promise<void> {
  const home = await homeOf(deps, visit.organisation, user);
  if (home) await send(deps, visit, "VerifyEmail", { user, home }, { email: user.email, asked });
}

/** Only the organisation that owns an account changes it: the link of somebody who roams leads there. */
async function homeOf(
  { organisations }: BrowserDeps,
  organisation: Organisation,
  { homeOrgId }: User,
): Promise<Organisation | undefined> {
  return homeOrgId === organisation.id ? organisation : organisations.find(homeOrgId);
}

const places = { ResetPassword: "recovery", VerifyEmail: "verify-email" } as const;
const actions = { ResetPassword: "password-reset.requested", VerifyEmail: "verify-email.requested" } as const;

async function send(
  deps: BrowserDeps,
  { organisation, request }: Visit,
  type: keyof typeof places,
  receiver: { user: User; home: Organisation } | undefined,
  { email, asked }: { email: string; asked: AskedFor },
): Promise<void> {
  const { user, home } = receiver ?? { home: organisation };
  const recipient = user?.email ?? email;
  // The sealed sign-in is this organisation's; and strangers' addresses shall not fill the database.
  const flow = user && home.id === organisation.id ? asked.flow : undefined;
  await deps.database.transaction((tx) =>
    sendLinkMail(tx, deps, {
      orgId: home.id,
      type,
      userId: user?.id ?? nobody(emailKey(email)),
      data: { email: recipient, ...(flow ? { flow: deps.flows.seal(flow) } : {}) },
      recipient,
      locale: user?.locale ?? asked.locale,
      addressOf: (id) => `${issuerOf(deps.baseUrl, home.id)}/${places[type]}/${id}`,
      isDecoy: user === undefined,
      audit: {
        orgId: organisation.id,
        actor: user && type === "VerifyEmail" ? `user:${user.id}` : "anonymous",
        action: actions[type],
        address: addressOf(request),
        ...(user ? { target: user.id } : { details: { reason: "no account to be used" } }),
      },
    }),
  );
}
