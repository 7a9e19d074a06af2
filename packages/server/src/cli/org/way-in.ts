/** As API v1's way-in.ts: nobody is locked out by a command either. */
import { type SignInMethod, worksWithoutMail } from "../../core/organisations/sign-in-methods.ts";
import type { Service } from "../../modules/open-service.ts";

/** @param named where the methods stand. @throws Error where emails would take the place of passwords, and none can be sent */
export function requireWayIn(
  { outbox }: Pick<Service, "outbox">,
  signInMethods: readonly SignInMethod[] | undefined,
  named: string,
): void {
  if (outbox.isOpen || signInMethods === undefined || worksWithoutMail({ signInMethods })) return;
  throw new Error(`${named} needs password: email is not configured, set SMTP_URL`);
}
