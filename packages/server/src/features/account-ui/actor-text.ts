/** Display text for an actor, for the account's owner. Never names the administrator or the application. */
import type { User } from "../../core/users/user.ts";
import type { Messages } from "../../html/messages/messages.ts";

export const isOwnAction = (actor: string, { id }: Pick<User, "id">): boolean => actor === `user:${id}`;

/** @param actor as in the audit log */
export function actorText(
  actor: string,
  user: Pick<User, "id">,
  { console: { account, frame } }: Messages,
): string {
  if (isOwnAction(actor, user)) return account.activity.you;
  const [kind = ""] = actor.split(":");
  const texts: Readonly<Record<string, string>> = {
    user: account.activity.administrator,
    operator: frame.actors.operator,
    system: frame.actors.system,
    client: frame.actors.application,
    "system-account": frame.actors.systemAccount,
  };
  return Object.hasOwn(texts, kind) ? (texts[kind] ?? "") : frame.actors.anonymous;
}
