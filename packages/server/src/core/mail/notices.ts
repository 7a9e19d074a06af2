/** Notices to users about changes of their account, which reveal changes by others. */
import type { Db } from "../../db/open.ts";
import type { Clock } from "../clock.ts";
import { browserName } from "../known-browsers/browser-name.ts";
import type { User } from "../users/user.ts";
import { type Mail, type MailedFactor, type MailedFactors, NO_LANGUAGE, type NoticeData } from "./mail.ts";
import type { Outbox } from "./outbox.ts";

export interface NoticeDeps {
  readonly outbox: Outbox;
  readonly clock: Clock;
}

export type Notice =
  | { readonly template: "PasswordChanged"; readonly factors?: MailedFactors | undefined }
  | { readonly template: "NewSignIn" | "IdentityLinked" | "EmailChanged" | "AccountDeleted" }
  | { readonly template: "FactorAdded" | "FactorRemoved"; readonly factor: MailedFactor };

/** The origin of a change; empty for an operator. */
export interface NoticeOrigin {
  readonly address?: string;
  /** The raw `User-Agent` header; the email shows our own words for it. */
  readonly userAgent?: string;
  /** The language of the page, for users who have chosen none. */
  readonly locale?: string;
}

/** Puts a notice into the outbox; does nothing without SMTP. @param tx the transaction of the change */
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
    ...(user.emailVerified ? { isVerified: true as const } : {}),
    ...(user.homeOrgId === user.orgId ? {} : { homeOrgId: user.homeOrgId }),
  };
  await outbox.put(tx, {
    orgId: user.orgId,
    recipient: user.email,
    locale: user.locale ?? locale ?? NO_LANGUAGE,
    mail: noticeMail(notice, seen),
  });
}

function noticeMail(notice: Notice, seen: NoticeData): Mail {
  if ("factor" in notice) return { template: notice.template, data: { ...seen, factor: notice.factor } };
  if (notice.template !== "PasswordChanged") return { template: notice.template, data: seen };
  const { template, factors } = notice;
  return { template, data: factors ? { ...seen, factors } : seen };
}
