/** Which language somebody reads: the one that they chose for their account, else what their browser says, else the organisation's. */
import type { FastifyRequest } from "fastify";
import type { Organisation } from "../core/organisations/organisation.ts";
import type { User } from "../core/users/user.ts";
import { type Messages, messages, preferredLocales } from "../html/messages/messages.ts";

export function readerMessages(
  request: Pick<FastifyRequest, "headers">,
  user: Pick<User, "locale"> | undefined,
  organisation?: Pick<Organisation, "settings">,
): Messages {
  const otherwise = organisation?.settings.defaultLocale;
  return messages(preferredLocales(user?.locale ?? undefined, request.headers["accept-language"], otherwise));
}
