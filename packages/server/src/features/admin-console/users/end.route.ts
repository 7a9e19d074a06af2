/** What ends something for a member as a whole, each asked for once more: disabled, enabled, deleted, shown out. */
import type { FastifyInstance } from "fastify";
import { deleteUser, leaveOrganisation } from "../../../core/users/leaving/delete-user.ts";
import { LastAdministrator } from "../../../core/users/leaving/last-administrator.ts";
import type { User } from "../../../core/users/user.ts";
import { disableUser } from "../../../core/users/users.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import { html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { type ConfirmedAct, confirmedActRoute, WasSoAlready } from "../../../page-kit/confirmed-act.ts";
import {
  findMember,
  isGuest,
  lastAdministratorRefusal,
  ownAccountRefusal,
  type UsersDeps,
  userCrumbs,
  userRest,
} from "./user-visit.ts";

export function endRoutes(app: FastifyInstance, deps: UsersDeps): void {
  confirmedActRoute(app, deps, stateAct(deps, true));
  confirmedActRoute(app, deps, stateAct(deps, false));
  confirmedActRoute(app, deps, deleteAct(deps));
  confirmedActRoute(app, deps, removeAct(deps));
}

/** A page for the organisation's own users is none for its guests, and the other way round. */
const finder =
  (deps: UsersDeps, wantsGuest: boolean): ConfirmedAct<User>["find"] =>
  async (organisation, { id }) => {
    const user = await findMember(deps, organisation, id);
    return user && isGuest(user) === wantsGuest ? user : undefined;
  };

/** @returns why nothing was done, or undefined when it was */
async function unlessLast(act: () => Promise<unknown>, messages: Messages): Promise<FormFailure | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    if (error instanceof LastAdministrator) return lastAdministratorRefusal(messages);
    throw error;
  }
}

function stateAct(deps: UsersDeps, disabled: boolean): ConfirmedAct<User> {
  return {
    path: `/users/:id/${disabled ? "disable" : "enable"}`,
    current: "users",
    find: finder(deps, false),
    overFor: (user) => ((user.disabledAt !== null) === disabled ? userRest(user.id) : undefined),
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
        back: userRest(user.id),
      };
    },
    act: async (acting, user, _form, { signedIn, messages }) => {
      const refusal = disabled ? ownAccountRefusal(signedIn, user, messages) : undefined;
      const done = userRest(user.id, `?done=${disabled ? "disabled" : "enabled"}`);
      const act = async () => {
        if (!(await disableUser(deps, { ...acting, id: user.id, disabled })))
          throw new WasSoAlready(userRest(user.id));
      };
      return refusal ?? (await unlessLast(act, messages)) ?? done;
    },
  };
}

function deleteAct(deps: UsersDeps): ConfirmedAct<User> {
  return {
    path: "/users/:id/delete",
    current: "users",
    find: finder(deps, false),
    question: (messages, user, organisation) => {
      const { end } = messages.console.users;
      return {
        heading: end.deleteHeading({ email: user.email }),
        text: html`<p>${end.deleteConfirm}</p>`,
        confirm: end.delete,
        confirmId: "delete-confirm",
        name: user.email,
        breadcrumbs: userCrumbs(organisation, user, messages),
        back: userRest(user.id),
      };
    },
    act: async (acting, user, _form, { signedIn, messages }) => {
      const refusal = ownAccountRefusal(signedIn, user, messages);
      const act = () => deleteUser(deps, { ...acting, id: user.id });
      return refusal ?? (await unlessLast(act, messages)) ?? "/users?done=deleted";
    },
  };
}

function removeAct(deps: UsersDeps): ConfirmedAct<User> {
  return {
    path: "/users/:id/remove",
    current: "users",
    find: finder(deps, true),
    question: (messages, user, organisation) => {
      const { end } = messages.console.users;
      return {
        heading: end.removeHeading({ email: user.email }),
        text: html`<p>${end.removeConfirm}</p>`,
        confirm: end.remove,
        confirmId: "remove-confirm",
        name: user.email,
        breadcrumbs: userCrumbs(organisation, user, messages),
        back: userRest(user.id),
      };
    },
    act: async (acting, user, _form, { signedIn, messages }) => {
      const refusal = ownAccountRefusal(signedIn, user, messages);
      const act = () => leaveOrganisation(deps, { ...acting, id: user.id });
      return refusal ?? (await unlessLast(act, messages)) ?? "/users?done=removed";
    },
  };
}
