/** users/{id} and its tabs: one member; disabling and enabling one, deleting a user, removing a guest, each confirmed first. */
import type { FastifyInstance } from "fastify";
import { deleteUser, leaveOrganisation } from "../../../core/users/leaving/delete-user.ts";
import { LastAdministrator } from "../../../core/users/leaving/last-administrator.ts";
import { setGuestStatus, setUserStatus } from "../../../core/users/users.ts";
import { alreadyApplied, applied, confirmationRoute, done } from "../../../page-kit/confirmation.ts";
import { consolePath } from "../../../page-kit/page.ts";
import { tabbedRecordRoutes } from "../../../page-kit/record-tabs.ts";
import {
  isDisabledHere,
  isGuest,
  lastAdministratorRefusal,
  type MemberConfirmation,
  onMember,
  ownAccountRefusal,
  type UsersDeps,
} from "./user-pages.ts";
import { ADVANCED, userRecord } from "./user-record.ts";

export function userRoutes(app: FastifyInstance, deps: UsersDeps): void {
  tabbedRecordRoutes(app, deps, userRecord);
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/disable", statusChange(true));
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/enable", statusChange(false));
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/delete", deletion);
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/remove", removal);
}

/** The organisation's own users have other pages than its guests. */
const onOwnUser = onMember((user) => !isGuest(user), ADVANCED);

/** Refused for one's own account, and for the organisation's last administrator. */
const guarded =
  (apply: MemberConfirmation["apply"]): MemberConfirmation["apply"] =>
  async (deps, acting, user, confirmed) => {
    const { signedIn, messages } = confirmed;
    try {
      return ownAccountRefusal(signedIn, user, messages) ?? (await apply(deps, acting, user, confirmed));
    } catch (error) {
      if (error instanceof LastAdministrator) return lastAdministratorRefusal(messages);
      throw error;
    }
  };

const disablement =
  (disabled: boolean): MemberConfirmation["apply"] =>
  async (deps, acting, user) => {
    const wanted = { ...acting, id: user.id, disabled };
    const isChanged = isGuest(user) ? await setGuestStatus(deps, wanted) : await setUserStatus(deps, wanted);
    return isChanged ? done(disabled ? "disabled" : "enabled") : alreadyApplied;
  };

export const statusChange = (disabled: boolean): MemberConfirmation => ({
  ...onMember(undefined, ADVANCED),
  isDone: (_, user) => isDisabledHere(user) === disabled,
  question: ({ console: { users } }, user) => {
    const { end } = users;
    const { email } = user;
    const [disableText, enableText] = isGuest(user)
      ? [end.disableGuestConfirm, end.enableGuestText]
      : [end.disableConfirm, end.enableText];
    return {
      heading: disabled ? end.disableHeading({ email }) : end.enableHeading({ email }),
      text: disabled ? disableText : enableText,
      confirm: disabled ? end.disable : end.enable,
      confirmId: disabled ? "disable-confirm" : "enable-confirm",
      isHarmless: !disabled,
    };
  },
  apply: disabled ? guarded(disablement(true)) : disablement(false),
});

export const deletion: MemberConfirmation = {
  ...onOwnUser,
  question: ({ console: { users } }, { email }) => ({
    heading: users.end.deleteHeading({ email }),
    text: users.end.deleteConfirm,
    confirm: users.end.delete,
    confirmId: "delete-confirm",
    name: email,
  }),
  apply: guarded(async (deps, acting, { id }, { organisation }) => {
    await deleteUser(deps, { ...acting, id });
    return applied(consolePath(organisation, "/users?done=deleted"));
  }),
};

export const removal: MemberConfirmation = {
  ...onMember(isGuest, ADVANCED),
  question: ({ console: { users } }, { email }) => ({
    heading: users.end.removeHeading({ email }),
    text: users.end.removeConfirm,
    confirm: users.end.remove,
    confirmId: "remove-confirm",
    name: email,
  }),
  apply: guarded(async (deps, acting, { id }, { organisation }) => {
    await leaveOrganisation(deps, { ...acting, id });
    return applied(consolePath(organisation, "/users?done=removed"));
  }),
};
