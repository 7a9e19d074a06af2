/** What goes out: mails with their links, back-channel logouts. */

/** A link in a mail: `data` is sealed under the master key. */
export interface UserActionTable {
  org_id: string;
  id_hash: string;
  type: string;
  user_id: string;
  data: string;
  created_at: number;
  expires_at: number;
  used_at: number | null;
}

/** A mail on its way; `data` is sealed under the master key, links included. */
export interface OutgoingMailTable {
  org_id: string;
  id: string;
  recipient: string;
  template: string;
  locale: string;
  data: string;
  attempts: number;
  next_attempt_at: number;
  /** Not tried any more from then on: a link in it would be dead, or a day has passed. */
  give_up_at: number;
  created_at: number;
  sent_at: number | null;
  failed_at: number | null;
  last_error: string | null;
}

/** A back-channel logout on its way to one application. */
export interface LogoutDeliveryTable {
  org_id: string;
  id: string;
  application_id: string;
  user_id: string;
  session_id: string;
  attempts: number;
  next_attempt_at: number;
  created_at: number;
  delivered_at: number | null;
  failed_at: number | null;
  last_error: string | null;
}

/** An organisation's own text of an email in one language; null where the built-in text stands. */
export interface MailTextTable {
  org_id: string;
  template: string;
  locale: string;
  subject: string | null;
  heading: string | null;
  body: string | null;
  button: string | null;
  updated_at: number;
}

export interface MessagesSchema {
  mail_text: MailTextTable;
  logout_delivery: LogoutDeliveryTable;
  user_action: UserActionTable;
  outgoing_mail: OutgoingMailTable;
}
