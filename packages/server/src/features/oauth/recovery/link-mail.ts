/** The mails with a link: the link, the mail and the audit event are written together or not at all. */

import { sha256Base64url } from "@signet/protocol/hash";
import { createAction } from "../../../core/actions/actions.ts";
import { type ActionType, actionLifetimeMs } from "../../../core/actions/user-action.ts";
import { recordAuditEvent } from "../../../core/audit/store.ts";
import { issuerOf, type Organisation } from "../../../core/organisations/organisation.ts";
import { findUserByEmail } from "../../../core/users/store.ts";
import { emailKey, type User } from "../../../core/users/user.ts";
import { addressOf } from "../../../http/client-address.ts";
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
  type: ActionType,
  receiver: { user: User; home: Organisation } | undefined,
  { email, asked }: { email: string; asked: AskedFor },
): Promise<void> {
  const isDecoy = receiver === undefined;
  const home = receiver?.home ?? organisation;
  const recipient = receiver?.user.email ?? email;
  // The sealed sign-in is this organisation's; and strangers' addresses shall not fill the database.
  const flow = receiver && home.id === organisation.id ? asked.flow : undefined;
  const data = { email: recipient, ...(flow ? { flow: deps.flows.seal(flow) } : {}) };
  const orgId = home.id;
  const now = deps.clock();
  await deps.database.transaction(async (tx) => {
    const made = await createAction(tx, deps, {
      orgId,
      userId: receiver?.user.id ?? `nobody:${sha256Base64url(emailKey(email))}`,
      type,
      data,
      isDecoy,
    });
    const link = `${issuerOf(deps.baseUrl, orgId)}/${places[type]}/${made.id}`;
    const expiresAt = now + actionLifetimeMs[type];
    await deps.outbox.put(tx, {
      orgId,
      recipient,
      locale: receiver?.user.locale ?? asked.locale,
      mail: { template: type, data: { link, expiresAt } },
      isDecoy,
    });
    await recordAuditEvent(tx, {
      orgId: organisation.id,
      at: now,
      actor: receiver && type === "VerifyEmail" ? `user:${receiver.user.id}` : "anonymous",
      action: actions[type],
      address: addressOf(request),
      ...(receiver ? { target: receiver.user.id } : { details: { reason: "no account to be used" } }),
    });
  });
}
