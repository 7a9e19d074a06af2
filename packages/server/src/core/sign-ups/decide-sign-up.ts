/** An administrator approves a sign-up, which makes the account, or rejects it. Once: the same again changes nothing, the other is refused. */
import type { Db } from "../../db/open.ts";
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import { NO_LANGUAGE } from "../mail/mail.ts";
import type { Outbox } from "../mail/outbox.ts";
import { issuerOf } from "../organisations/organisation.ts";
import { findOrganisation } from "../organisations/organisations.store.ts";
import { isPlainText } from "../plain-text.ts";
import type { RecordDeps } from "../record-changes.ts";
import { SIGN_UP_KEPT_MS } from "./complete-sign-up.ts";
import { insertSignedUp } from "./new-account.ts";
import { decideRow, findSignUp, lockSignUp, type SignUp } from "./sign-ups.store.ts";

export const MAX_REASON = 500;

const messages = {
  decided: "the sign-up has been decided otherwise",
  "email-taken": "the organisation has a user with this email address",
  "invalid-reason": `a reason has 1 to ${MAX_REASON} characters in one line`,
} as const;

export class SignUpRefused extends Error {
  override readonly name = "SignUpRefused";
  readonly code: keyof typeof messages;
  constructor(code: SignUpRefused["code"]) {
    super(messages[code]);
    this.code = code;
  }
}

export type DecideDeps = RecordDeps & { readonly outbox: Outbox; readonly baseUrl: string };

export interface SignUpDecision extends Act {
  readonly id: string;
  readonly decision: "approved" | "rejected";
  /** Of a rejection, for administrators alone: no email has the words of others. */
  readonly reason?: string | undefined;
  /** Of the sign-up as it is now, locked; throwing rolls everything back. */
  readonly check?: (signUp: SignUp) => void | Promise<void>;
}

/** @returns the sign-up; undefined when there is none. @throws SignUpRefused */
export function decideSignUp(
  deps: DecideDeps,
  { id, decision, reason, check, ...act }: SignUpDecision,
): Promise<SignUp | undefined> {
  const { orgId } = act;
  if (reason !== undefined && !isPlainText(reason.trim(), 1, MAX_REASON))
    throw new SignUpRefused("invalid-reason");
  return deps.database.transaction(async (tx) => {
    const signUp = await lockSignUp(tx, { orgId, id });
    const now = deps.clock();
    if (!signUp || (signUp.state === "waiting" && signUp.expiresAt <= now)) return undefined;
    await check?.(signUp);
    if (signUp.state === decision) return signUp;
    if (signUp.state !== "waiting") throw new SignUpRefused("decided");
    const userId = decision === "approved" ? await createAccount(tx, deps, signUp) : null;
    const decided = { state: decision, reason: reason?.trim() ?? null, userId, now };
    if (!(await decideRow(tx, signUp, { ...decided, expiresAt: now + SIGN_UP_KEPT_MS })))
      throw new SignUpRefused("decided");
    await recordAuditEvent(tx, {
      ...{ ...auditFields(act, now), target: userId ?? id },
      action: decision === "approved" ? "sign-up.approved" : "sign-up.rejected",
      details: { signUpId: id, ...(reason === undefined ? {} : { reason: reason.trim() }) },
    });
    await tellPerson(tx, deps, signUp, decision);
    return findSignUp(tx, { orgId, id });
  });
}

async function createAccount(tx: Db, deps: DecideDeps, signUp: SignUp): Promise<string> {
  const organisation = await findOrganisation(tx, signUp.orgId);
  if (!organisation) throw new Error("a sign-up belongs to an organisation");
  const { email, firstname, surname, locale, passwordHash, termsVersion, termsAcceptedAt } = signUp;
  const terms =
    termsVersion === null || termsAcceptedAt === null
      ? undefined
      : { version: termsVersion, acceptedAt: termsAcceptedAt };
  const person = { email, firstname, surname, locale, passwordHash, terms };
  const userId = await insertSignedUp(tx, deps, organisation, person, signUp.address);
  if (userId === undefined) throw new SignUpRefused("email-taken");
  return userId;
}

async function tellPerson(
  tx: Db,
  { clock, outbox, baseUrl }: DecideDeps,
  { orgId, email, locale }: SignUp,
  decision: SignUpDecision["decision"],
): Promise<void> {
  if (!outbox.isOpen) return;
  const at = clock();
  await outbox.put(tx, {
    ...{ orgId, recipient: email, locale: locale ?? NO_LANGUAGE },
    mail:
      decision === "approved"
        ? { template: "SignUpApproved", data: { at, recordUri: `${issuerOf(baseUrl, orgId)}/account` } }
        : { template: "SignUpRejected", data: { at } },
  });
}
