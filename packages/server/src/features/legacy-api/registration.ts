/** The email of a registration: a link for a new address, a notice for the owner of an existing account. */
import type { FastifyRequest } from "fastify";
import { createAction, sendLinkMail } from "../../core/actions/actions.ts";
import { linkAddress } from "../../core/actions/link-address.ts";
import { type Registration, registrationSubject } from "../../core/actions/user-action.ts";
import { recordAuditEvent } from "../../core/audit/audit.store.ts";
import { isEnforced } from "../../core/domains/enforced-sign-in.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import { passwordFaultMessage } from "../../core/passwords/password-policy.ts";
import { backendSource, sourceSubject } from "../../core/rate-limits/guess-source.ts";
import { countAttempt } from "../../core/rate-limits/rate-limits.ts";
import type { SystemAccountCaller } from "../../core/system-accounts/system-account.ts";
import { emailKey, type User } from "../../core/users/user.ts";
import { findUserByEmail } from "../../core/users/users.store.ts";
import type { Db } from "../../db/open.ts";
import { messages, preferredLocales } from "../../html/messages/messages.ts";
import { invalid } from "../../http/api/api-error.ts";
import type { LegacyDeps } from "./legacy-deps.ts";

export interface NewRegistration {
  readonly Email: string;
  readonly Password: string;
  readonly Firstname: string;
  readonly Surname: string;
  readonly Phone?: string;
}

/** @throws ApiError 422 with the reason at `path` */
export async function requireAcceptablePassword(
  password: string,
  { settings }: Organisation,
  about: readonly string[],
  path: string,
): Promise<void> {
  const reason = await passwordFaultMessage(password, { minLength: settings.passwordMinLength, about });
  if (reason !== undefined) throw invalid([{ path, message: reason }]);
}

/** The locale of an email to a user who has chosen none. */
export const requestLocale = (request: FastifyRequest): string =>
  messages(preferredLocales(undefined, request.headers["accept-language"])).locale;

/** @throws RateLimited */
export async function sendRegistrationMail(
  deps: LegacyDeps,
  request: FastifyRequest,
  caller: SystemAccountCaller,
  input: NewRegistration,
): Promise<void> {
  const orgId = caller.organisation.id;
  const key = emailKey(input.Email);
  const source = backendSource(caller);
  await countAttempt(deps, orgId, [
    { limit: deps.rateLimits["registration-address"], subject: sourceSubject(source) },
    { limit: deps.rateLimits["registration-account"], subject: key },
  ]);
  // Before the address is looked up: it takes its time for every address.
  const passwordHash = await deps.passwords.hash(input.Password, orgId);
  const found = await findUserByEmail(deps.database.query, orgId, key);
  const registrant: Registrant = {
    orgId,
    caller,
    locale: requestLocale(request),
    address: source.address,
  };
  const isClosed = await isEnforced(deps.database.query, orgId, input.Email);
  const decoyReason = isClosed ? "the domain is enforced" : found && "the account is disabled";
  await deps.database.transaction((tx) =>
    found?.user.disabledAt === null && !isClosed
      ? notifyOwner(tx, deps, registrant, found.user)
      : sendLink(tx, deps, registrant, registrationOf(input, passwordHash), decoyReason),
  );
}

interface RequestedAccount {
  readonly email: string;
  readonly registration: Registration;
}

const registrationOf = (
  { Email: email, Firstname: firstname, Surname: surname, Phone: phone }: NewRegistration,
  passwordHash: string,
): RequestedAccount => ({
  email,
  registration: { firstname, surname, phone: phone ?? null, passwordHash },
});

interface Registrant {
  readonly orgId: string;
  readonly caller: SystemAccountCaller;
  readonly locale: string;
  readonly address: string;
}

const auditEvent = ({ orgId, caller, address }: Registrant) => ({
  orgId,
  actor: caller.actor,
  action: "registration.requested" as const,
  address,
});

async function sendLink(
  tx: Db,
  deps: LegacyDeps,
  registrant: Registrant,
  { email, registration }: RequestedAccount,
  decoyReason: string | undefined,
): Promise<void> {
  const isDecoy = decoyReason !== undefined;
  await sendLinkMail(tx, deps, {
    orgId: registrant.orgId,
    type: "VerifyEmail",
    userId: registrationSubject(),
    data: isDecoy ? { email: "" } : { email, registration },
    recipient: email,
    locale: registrant.locale,
    addressOf: linkAddress(deps.baseUrl, "VerifyEmail"),
    isDecoy,
    audit: {
      ...auditEvent(registrant),
      ...(isDecoy ? { details: { reason: decoyReason } } : {}),
    },
  });
}

/** Runs the same statements as for a new address: a link that opens nothing, an email, an audit event. */
async function notifyOwner(tx: Db, deps: LegacyDeps, registrant: Registrant, user: User): Promise<void> {
  const { orgId, locale, address } = registrant;
  const userId = registrationSubject();
  await createAction(tx, deps, { orgId, userId, type: "VerifyEmail", data: { email: "" }, isDecoy: true });
  await deps.outbox.put(tx, {
    orgId,
    recipient: user.email,
    locale: user.locale ?? locale,
    mail: {
      template: "AccountExists",
      data: { at: deps.clock(), address, ...(user.emailVerified ? { isVerified: true } : {}) },
    },
  });
  const details = { reason: "there is an account" };
  await recordAuditEvent(tx, { ...auditEvent(registrant), at: deps.clock(), target: user.id, details });
}
