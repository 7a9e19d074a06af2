/** Sends an email with a link: link, email and audit event are written together. */
import type { Db } from "../../db/open.ts";
import { type AuditEvent, recordAuditEvent } from "../audit/audit.store.ts";
import type { Outbox } from "../mail/outbox.ts";
import { type ActionDeps, createAction } from "./actions.ts";
import type { ActionData, ActionType } from "./user-action.ts";

export interface LinkMailDeps extends ActionDeps {
  readonly outbox: Outbox;
}

export interface LinkMail {
  /** The organisation of the link, which the email is sent for. */
  readonly orgId: string;
  readonly type: ActionType;
  /** PermId, or the subject of a registration; anything for a decoy. */
  readonly userId: string;
  readonly data: ActionData;
  readonly recipient: string;
  readonly locale: string;
  /** The URL of the link. */
  addressOf(id: string): string;
  /** For an email address without an account: the same statements, and rows without effect. */
  readonly isDecoy: boolean;
  /**
   * For a decoy that a signed-in user caused: its link is stored as long as any other, because the user can read its
   * expiry. Nobody has its id.
   */
  readonly isKept?: boolean;
  readonly audit: Omit<AuditEvent, "at">;
}

export async function sendLinkMail(tx: Db, deps: LinkMailDeps, mail: LinkMail): Promise<void> {
  const { orgId, type, userId, data, recipient, locale, isDecoy, isKept = false, audit } = mail;
  const link = { orgId, userId, type, data, isDecoy: isDecoy && !isKept };
  const { id, expiresAt } = await createAction(tx, deps, link);
  await deps.outbox.put(tx, {
    orgId,
    recipient,
    locale,
    mail: { template: type, data: { link: mail.addressOf(id), expiresAt } },
    isDecoy,
  });
  await recordAuditEvent(tx, { ...audit, at: deps.clock() });
}

/** The URL of links in emails that an API client requested (specification, "Action/{id}/{type}"). */
export const actionAddress = (baseUrl: string, type: ActionType) => (id: string) =>
  `${baseUrl}/legacy/api/Authentication/Action/${id}/${type}`;
