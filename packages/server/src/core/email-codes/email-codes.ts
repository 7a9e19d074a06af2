/** Codes by email (connections.md §6): six digits, for one browser, ten minutes and five tries; a new one voids the old. */
import { randomInt } from "node:crypto";
import { type Act, recordAuditEvent } from "../audit/audit.store.ts";
import { recordUnauthenticatedEvent } from "../audit/unauthenticated-events.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { Macs } from "../encryption/macs.ts";
import type { Outbox } from "../mail/outbox.ts";
import { deleteEmailCode, type EmailCodeKey, putEmailCode, takeTry } from "./email-codes.store.ts";

export const EMAIL_CODE_MS = 10 * 60_000;
export const MAX_TRIES = 5;
const DIGITS = 6;

export interface EmailCodeDeps extends CoreDeps {
  readonly outbox: Outbox;
  /** Under keys that are derived from the master keys for this purpose: a million codes are soon tried in a copy of the database. */
  readonly codeMacs: Macs;
}

/** `target`: what it is sent for. */
type CodeAct = Act & { readonly target: string; readonly holderHash: string };

const content = ({ orgId, holderHash }: EmailCodeKey, email: string, code: string) =>
  `${orgId}|${holderHash}|${email}|${code}`;

/** Whoever has the address: whether it has an account is not looked at. The caller counts. */
export async function sendEmailCode(
  deps: EmailCodeDeps,
  { holderHash, email, locale, ...act }: CodeAct & { readonly email: string; readonly locale: string },
): Promise<void> {
  const { orgId } = act;
  const now = deps.clock();
  const code = String(randomInt(10 ** DIGITS)).padStart(DIGITS, "0");
  const expiresAt = now + EMAIL_CODE_MS;
  const key = { orgId, holderHash };
  await deps.database.transaction(async (tx) => {
    await putEmailCode(tx, {
      ...key,
      email,
      codeMac: deps.codeMacs.of(content(key, email, code)),
      expiresAt,
    });
    const mail = { template: "EmailCode" as const, data: { code, expiresAt } };
    await deps.outbox.put(tx, { orgId, recipient: email, locale, mail });
    await recordAuditEvent(tx, { ...act, at: now, action: "email-code.sent", typedEmail: email });
  });
}

/** @returns the address that the code proves; `ended`: another code is needed */
export async function takeEmailCode(
  deps: EmailCodeDeps,
  { holderHash, code, ...act }: CodeAct & { readonly code: string },
): Promise<{ readonly email: string } | "wrong" | "ended"> {
  const key = { orgId: act.orgId, holderHash };
  const found = await takeTry(deps.database.query, key, { now: deps.clock(), max: MAX_TRIES });
  if (!found) return "ended";
  const { email, codeMac, tries } = found;
  if (deps.codeMacs.isOf(content(key, email, code), codeMac))
    return (await deleteEmailCode(deps.database.query, key, codeMac)) ? { email } : "ended";
  await recordUnauthenticatedEvent(deps, { ...act, action: "email-code.failed", typedEmail: email });
  return tries < MAX_TRIES ? "wrong" : "ended";
}
