/** Notices to a user of what happened to their account, so that whoever did it without them is noticed. */
import type { Db } from "../../db/open.ts";
import type { Clock } from "../clock.ts";
import { browserName } from "../known-browsers/browser-name.ts";
import type { User } from "../users/user.ts";
import { type MailedFactor, NO_LANGUAGE } from "./mail.ts";
import type { Outbox } from "./outbox.ts";

export interface NoticeDeps {
  readonly outbox: Outbox;
  readonly clock: Clock;
}

export type Notice =
  | { readonly template: "PasswordChanged" | "NewSignIn" | "EmailChanged" | "AccountDeleted" }
  | { readonly template: "FactorAdded" | "FactorRemoved"; readonly factor: MailedFactor };

/** Where it came from; nothing when an operator did it. */
export interface NoticeOrigin {
  /** The network address. */
  readonly address?: string;
  /** The `User-Agent` header as it came: the mail shows words of our own for it. */
  readonly userAgent?: string;
  /** The language of the page that it happened on: for users who have chosen none. */
  readonly locale?: string;
}

/**
 * Writes a notice into the outbox. Without mail set up nothing is written: no act waits for its notice.
 * @param tx the transaction of the act
 */
export async function sendNotice(
  tx: Db,
  { outbox, clock }: NoticeDeps,
  user: User,
  notice: Notice,
  origin: NoticeOrigin = {},
): Promise<void> {
  if (!outbox.isOpen) return;
  const { address, userAgent, locale } = origin;
  const browser = userAgent === undefined ? undefined : browserName(userAgent);
  const seen = {
    at: clock(),
    ...(address === undefined ? {} : { address }),
    ...(browser === undefined ? {} : { browser }),
    ...(user.homeOrgId === user.orgId ? {} : { homeOrgId: user.homeOrgId }),
  };
  await outbox.put(tx, {
    orgId: user.orgId,
    recipient: user.email,
    locale: user.locale ?? locale ?? NO_LANGUAGE,
    mail:
      "factor" in notice
        ? { template: notice.template, data: { ...seen, factor: notice.factor } }
        : { template: notice.template, data: seen },
  });
}
