/** A mail with a link: the link, the mail and the audit event are written together or not at all. */
import type { Db } from "../../db/open.ts";
import { type AuditEvent, recordAuditEvent } from "../audit/audit.store.ts";
import type { Outbox } from "../mail/outbox.ts";
import { type ActionDeps, createAction } from "./actions.ts";
import type { ActionData, ActionType } from "./user-action.ts";

export interface LinkMailDeps extends ActionDeps {
  readonly outbox: Outbox;
}

export interface LinkMail {
  /** The organisation that the link is of, and that the mail speaks for. */
  readonly orgId: string;
  readonly type: ActionType;
  /** PermId, or the subject of a registration; anything for a decoy. */
  readonly userId: string;
  readonly data: ActionData;
  readonly recipient: string;
  readonly locale: string;
  /** The address of the link. */
  addressOf(id: string): string;
  /** For an address that nobody has: the same statements, and rows that do nothing. */
  readonly isDecoy: boolean;
  /**
   * Of a decoy that somebody's own account has asked for: its link is kept for as long as every other, because they can read
   * how long. Nobody has its id.
   */
  readonly isKept?: boolean;
  readonly audit: Omit<AuditEvent, "at">;
}

/** @param tx the transaction of the act */
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

/** Where the links of mails lead that a program has asked for (specification, "Action/{id}/{type}"). */
export const actionAddress = (baseUrl: string, type: ActionType) => (id: string) =>
  `${baseUrl}/legacy/api/Authentication/Action/${id}/${type}`;
