/** What `signet doctor` finds out about mail: it connects and signs in to the mail server, and sends nothing. */
import type { Config } from "../../config/config.ts";
import { verifySmtp } from "../../core/mail/smtp.ts";
import { reasonOf } from "../reason.ts";
import { type Check, fail, note, ok } from "./check-configuration.ts";

export async function mailCheck({ mail }: Config): Promise<Check> {
  if (!mail) {
    return note(
      "mail",
      "not set up: nobody can set a forgotten password or confirm an address, and no notices are sent",
      "Set SMTP_URL and SIGNET_MAIL_FROM.",
    );
  }
  const { smtp, sender } = mail;
  const server = `${smtp.host}:${smtp.port}`;
  try {
    await verifySmtp(smtp);
    return ok("mail", `${server} answers; mails come from ${sender.address}`);
  } catch (error) {
    return fail("mail", `${server} does not take mail: ${reasonOf(error)}`, "Check SMTP_URL and the server.");
  }
}
