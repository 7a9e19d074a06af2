/** Disabling, enabling and deleting a user, and removing a guest: each confirmed first. */
import type { FastifyInstance } from "fastify";
import { deleteUser, leaveOrganisation } from "../../../core/users/leaving/delete-user.ts";
import { LastAdministrator } from "../../../core/users/leaving/last-administrator.ts";
import type { User } from "../../../core/users/user.ts";
import { setUserStatus } from "../../../core/users/users.ts";
import { html } from "../../../html/html.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  type ConfirmationResult,
  confirmationRoute,
} from "../../../page-kit/confirmation.ts";
import { consolePath } from "../../../page-kit/page.ts";
import {
  findMember,
  isGuest,
  lastAdministratorRefusal,
  ownAccountRefusal,
  type UsersDeps,
  userCrumbs,
  userPath,
} from "./user-path.ts";

export function endRoutes(app: FastifyInstance, deps: UsersDeps): void {
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/disable", statusChange(true));
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/enable", statusChange(false));
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/delete", deletion);
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/remove", removal);
}

type UserConfirmation = Confirmation<UsersDeps, User>;

/** The organisation's own users have other pages than its guests. */
const onMember = (wantsGuest: boolean): Pick<UserConfirmation, "current" | "load" | "backUri"> => ({
  current: "users",
  load: async (deps, organisation, params) => {
    const user = await findMember(deps, organisation, params);
    return user && isGuest(user) === wantsGuest ? user : undefined;
  },
  backUri: (organisation, { id }) => userPath(organisation, id),
});

/** Refused for one's own account, and for the organisation's last administrator. */
const guarded =
  (apply: UserConfirmation["apply"]): UserConfirmation["apply"] =>
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
  (disabled: boolean): UserConfirmation["apply"] =>
  async (deps, acting, { id }, { organisation }): Promise<ConfirmationResult> =>
    (await setUserStatus(deps, { ...acting, id, disabled }))
      ? applied(userPath(organisation, id, `?done=${disabled ? "disabled" : "enabled"}`))
      : alreadyApplied;

const statusChange = (disabled: boolean): UserConfirmation => ({
  ...onMember(false),
  isDone: (_, user) => (user.disabledAt !== null) === disabled,
  question: (messages, user, organisation) => {
    const { end } = messages.console.users;
    return {
      heading: disabled
        ? end.disableHeading({ email: user.email })
        : end.enableHeading({ email: user.email }),
      text: html`<p>${disabled ? end.disableConfirm : end.enableText}</p>`,
      confirm: disabled ? end.disable : end.enable,
      confirmId: disabled ? "disable-confirm" : "enable-confirm",
      isHarmless: !disabled,
      breadcrumbs: userCrumbs(organisation, user, messages),
    };
  },
  apply: disabled ? guarded(disablement(true)) : disablement(false),
});

const deletion: UserConfirmation = {
  ...onMember(false),
  question: (messages, user, organisation) => {
    const { end } = messages.console.users;
    return {
      heading: end.deleteHeading({ email: user.email }),
      text: html`<p>${end.deleteConfirm}</p>`,
      confirm: end.delete,
      confirmId: "delete-confirm",
      name: user.email,
      breadcrumbs: userCrumbs(organisation, user, messages),
    };
  },
  apply: guarded(async (deps, acting, { id }, { organisation }) => {
    await deleteUser(deps, { ...acting, id });
    return applied(consolePath(organisation, "/users?done=deleted"));
  }),
};

const removal: UserConfirmation = {
  ...onMember(true),
  question: (messages, user, organisation) => {
    const { end } = messages.console.users;
    return {
      heading: end.removeHeading({ email: user.email }),
      text: html`<p>${end.removeConfirm}</p>`,
      confirm: end.remove,
      confirmId: "remove-confirm",
      name: user.email,
      breadcrumbs: userCrumbs(organisation, user, messages),
    };
  },
  apply: guarded(async (deps, acting, { id }, { organisation }) => {
    await leaveOrganisation(deps, { ...acting, id });
    return applied(consolePath(organisation, "/users?done=removed"));
  }),
};
