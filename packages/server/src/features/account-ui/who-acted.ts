/** Who did something with an account, in words for its owner: not which administrator it was, nor whose application. */
import type { User } from "../../core/users/user.ts";
import type { Messages } from "../../html/messages/messages.ts";

export const isOwnAct = (actor: string, { id }: Pick<User, "id">): boolean => actor === `user:${id}`;

/** @param actor as in the audit log */
export function whoActed(
  actor: string,
  user: Pick<User, "id">,
  { console: { account, frame } }: Messages,
): string {
  if (isOwnAct(actor, user)) return account.activity.you;
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
