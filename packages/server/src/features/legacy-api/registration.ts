/** The mail of a registration: to somebody new a link, to the owner of an account the news that there is one. */
import { sha256Base64url } from "@signet/protocol/hash";
import type { FastifyRequest } from "fastify";
import { createAction } from "../../core/actions/actions.ts";
import { sendLinkMail } from "../../core/actions/link-mail.ts";
import { registrationSubject } from "../../core/actions/user-action.ts";
import { recordAuditEvent } from "../../core/audit/audit.store.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import { refusePassword } from "../../core/passwords/password-policy.ts";
import { networkOf } from "../../core/rate-limits/network.ts";
import { countAttempt } from "../../core/rate-limits/rate-limits.ts";
import type { SystemAccountCaller } from "../../core/system-accounts/caller.ts";
import { emailKey, type User } from "../../core/users/user.ts";
import { findUserByEmail } from "../../core/users/users.store.ts";
import type { Db } from "../../db/open.ts";
import { messages, preferredLocales } from "../../html/messages/messages.ts";
import { invalid } from "../../http/api/api-error.ts";
import { addressOf } from "../../http/listeners/client-address.ts";
import type { LegacyDeps } from "./legacy-deps.ts";

export interface NewRegistration {
  readonly Email: string;
  readonly Password: string;
  readonly Firstname: string;
  readonly Surname: string;
  readonly Phone?: string;
}

/** @throws ApiError 422 with the reason, at this place of the body */
export async function requireGoodPassword(
  password: string,
  { settings }: Organisation,
  about: readonly string[],
  path: string,
): Promise<void> {
  const reason = await refusePassword(password, { minLength: settings.passwordMinLength, about });
  if (reason !== undefined) throw invalid([{ path, message: reason }]);
}

/** The language of the mail, for users who have chosen none: the caller's. */
export const localeOf = (request: FastifyRequest): string =>
  messages(preferredLocales(undefined, request.headers["accept-language"])).locale;

/** @throws RateLimited, PasswordQueueFull */
export async function sendRegistrationMail(
  deps: LegacyDeps,
  request: FastifyRequest,
  caller: SystemAccountCaller,
  typed: NewRegistration,
): Promise<void> {
  const orgId = caller.organisation.id;
  const key = emailKey(typed.Email);
  await countAttempt(deps, orgId, [
    { limit: deps.rateLimits["registration-address"], subject: networkOf(addressOf(request)) },
    { limit: deps.rateLimits["registration-account"], subject: key },
  ]);
  // Before it is known whether the address is taken: the time does not tell.
  const passwordHash = await deps.passwords.hash(typed.Password);
  const found = await findUserByEmail(deps.database.query, orgId, key);
  const asked: Asked = { orgId, caller, locale: localeOf(request), address: addressOf(request) };
  await deps.database.transaction((tx) =>
    found?.user.disabledAt === null
      ? tellOwner(tx, deps, asked, found.user)
      : sendLink(tx, deps, asked, typed, { passwordHash, isDecoy: found !== undefined }),
  );
}

const subjectOf = (email: string) => registrationSubject(sha256Base64url(emailKey(email)));

interface Asked {
  readonly orgId: string;
  readonly caller: SystemAccountCaller;
  readonly locale: string;
  readonly address: string;
}

const auditOf = ({ orgId, caller, address }: Asked) => ({
  orgId,
  actor: caller.actor,
  action: "registration.requested" as const,
  address,
});

function sendLink(
  tx: Db,
  deps: LegacyDeps,
  asked: Asked,
  typed: NewRegistration,
  { passwordHash, isDecoy }: { passwordHash: string; isDecoy: boolean },
): Promise<void> {
  const { Email: email, Firstname: firstname, Surname: surname, Phone: phone = null } = typed;
  const registration = { firstname, surname, phone, passwordHash };
  return sendLinkMail(tx, deps, {
    orgId: asked.orgId,
    type: "VerifyEmail",
    userId: subjectOf(email),
    data: isDecoy ? { email: "" } : { email, registration },
    recipient: email,
    locale: asked.locale,
    addressOf: (id) => `${deps.baseUrl}/legacy/api/Authentication/User/Register/Complete/${id}`,
    isDecoy,
    audit: { ...auditOf(asked), ...(isDecoy ? { details: { reason: "the account is disabled" } } : {}) },
  });
}

/** The same statements as for somebody new: a link that opens nothing, a mail, an audit event. */
async function tellOwner(tx: Db, deps: LegacyDeps, asked: Asked, user: User): Promise<void> {
  const { orgId, locale, address } = asked;
  const userId = subjectOf(user.email);
  await createAction(tx, deps, { orgId, userId, type: "VerifyEmail", data: { email: "" }, isDecoy: true });
  await deps.outbox.put(tx, {
    orgId,
    recipient: user.email,
    locale: user.locale ?? locale,
    mail: { template: "AccountExists", data: { at: deps.clock(), address } },
  });
  const details = { reason: "there is an account" };
  await recordAuditEvent(tx, { ...auditOf(asked), at: deps.clock(), target: user.id, details });
}
