/** What can be done with ticked users, by the rules of the single acts. */
import { LastAdministrator } from "../../../core/users/leaving/last-administrator.ts";
import { changeRole } from "../../../core/users/member-record.ts";
import type { Role } from "../../../core/users/user.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { done } from "../../../page-kit/confirmation.ts";
import { type BulkAct, bulkAct } from "../../../page-kit/list/bulk-act.ts";
import { reinvitation, signOut } from "./sign-in.route.ts";
import { deletion, removal, statusChange } from "./user.route.ts";
import {
  displayName,
  isGuest,
  lastAdministratorRefusal,
  type MemberConfirmation,
  onMember,
  ownAccountRefusal,
  type UsersDeps,
} from "./user-pages.ts";

/** Guests too: the membership is this organisation's. */
const roleChange = (role: Role): Pick<MemberConfirmation, "load" | "isDone" | "apply"> => ({
  load: onMember().load,
  isDone: (_, user) => user.role === role,
  apply: async (deps, acting, user, { signedIn, messages }) => {
    const refusal = ownAccountRefusal(signedIn, user, messages);
    if (refusal) return refusal;
    try {
      await changeRole(deps, { ...acting, id: user.id, role });
      return done("saved");
    } catch (error) {
      if (error instanceof LastAdministrator) return lastAdministratorRefusal(messages);
      throw error;
    }
  },
});

/** A guest's membership ends; an account of this organisation is deleted. */
const leaving: Pick<MemberConfirmation, "load" | "apply"> = {
  load: onMember().load,
  apply: (deps, acting, user, confirmed) =>
    (isGuest(user) ? removal : deletion).apply(deps, acting, user, confirmed),
};

type ActName = keyof Messages["console"]["users"]["bulk"];

const act = (
  name: ActName,
  confirmation: Pick<MemberConfirmation, "load" | "isDone" | "apply">,
  kind?: Pick<BulkAct<UsersDeps>, "isHarmless" | "isPermanent">,
) => bulkAct(({ console: { users } }) => users.bulk[name], confirmation, displayName, kind);

/** By the value of the list's button. */
export const userActs: Readonly<Record<ActName, BulkAct<UsersDeps>>> = {
  disable: act("disable", statusChange(true)),
  enable: act("enable", statusChange(false), { isHarmless: true }),
  signOut: act("signOut", signOut),
  invite: act("invite", reinvitation, { isHarmless: true }),
  makeAdministrator: act("makeAdministrator", roleChange("Administrator")),
  makeMember: act("makeMember", roleChange("Standard")),
  remove: act("remove", leaving, { isPermanent: true }),
};
