/**
 * Codes by email (connections.md §6): six digits, for one browser, ten minutes and five tries; a new one voids the old. A link may
 * stand for the code: it works in that browser, and shows the code in every other.
 */
import { createHash, randomInt } from "node:crypto";
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import type { Db } from "../../db/open.ts";
import { type Act, recordAuditEvent } from "../audit/audit.store.ts";
import { recordUnauthenticatedEvent } from "../audit/unauthenticated-events.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { Macs } from "../encryption/macs.ts";
import type { Mail } from "../mail/mail.ts";
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
type CodeAct = Act & { readonly target?: string | undefined; readonly holderHash: string };

export type NewEmailCode = CodeAct & {
  readonly email: string;
  readonly locale: string;
  /** Default: the same address. */
  readonly recipient?: string;
  /** Of a sign-in: the link, and what it goes on with. */
  readonly link?: { addressOf(token: string): string; readonly flow: string } | undefined;
  /** For an address that signs nobody in: the same statements, and no email. */
  readonly decoyReason?: string | undefined;
  readonly isVerified?: true | undefined;
};

const content = ({ orgId, holderHash }: EmailCodeKey, email: string, code: string) =>
  `${orgId}|${holderHash}|${email}|${code}`;

const toCode = (number: number): string => String(number).padStart(DIGITS, "0");

/** What another browser shows for a link: made of its token, which nobody but the recipient has, so that it is not stored. */
export const codeOfLink = (token: string): string =>
  toCode(
    Number(
      createHash("sha256").update(`email-code|${token}`).digest().readBigUInt64BE() % 10n ** BigInt(DIGITS),
    ),
  );

/** Whoever has the address: whether it has an account is not looked at here. The caller counts. */
export const sendEmailCode = (deps: EmailCodeDeps, code: NewEmailCode): Promise<void> =>
  deps.database.transaction((tx) => sendIn(deps, tx, code));

async function sendIn(
  deps: EmailCodeDeps,
  tx: Db,
  { holderHash, email, recipient = email, locale, link, decoyReason, isVerified, ...act }: NewEmailCode,
): Promise<void> {
  const { orgId } = act;
  const now = deps.clock();
  const token = link && randomSecret("sgn_ml_");
  const code = token === undefined ? toCode(randomInt(10 ** DIGITS)) : codeOfLink(token);
  const expiresAt = now + EMAIL_CODE_MS;
  const key = { orgId, holderHash };
  await putEmailCode(tx, {
    ...{ ...key, email, expiresAt, codeMac: deps.codeMacs.of(content(key, email, code)) },
    linkHash: token === undefined ? null : sha256Base64url(token),
    flow: link?.flow ?? null,
  });
  const data = { expiresAt, ...(isVerified ? { isVerified } : {}) };
  const mail: Mail =
    link && token !== undefined
      ? { template: "MagicLink", data: { ...data, link: link.addressOf(token) } }
      : { template: "EmailCode", data: { ...data, code } };
  await deps.outbox.put(tx, { orgId, recipient, locale, mail, isDecoy: decoyReason !== undefined });
  const details = decoyReason === undefined ? {} : { details: { reason: decoyReason } };
  await recordAuditEvent(tx, { ...act, ...details, at: now, action: "email-code.sent", typedEmail: email });
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
