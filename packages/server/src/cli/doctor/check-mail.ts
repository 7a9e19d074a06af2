/** `signet doctor`: connects and authenticates to the SMTP server, without sending anything. */
import type { Config } from "../../config/config.ts";
import { verifySmtp } from "../../core/mail/smtp.ts";
import { errorMessage } from "../output.ts";
import { type Check, fail, note, ok } from "./check-configuration.ts";

export async function mailCheck({ mail }: Config): Promise<Check> {
  if (!mail) {
    return note(
      "mail",
      "not configured: no password resets, address verification or notifications",
      "Set SMTP_URL and SIGNET_MAIL_FROM.",
    );
  }
  const { smtp, sender } = mail;
  const server = `${smtp.host}:${smtp.port}`;
  try {
    await verifySmtp(smtp);
    return ok("mail", `${server} is reachable; sender ${sender.address}`);
  } catch (error) {
    return fail("mail", `${server} failed: ${errorMessage(error)}`, "Check SMTP_URL and the mail server.");
  }
}
