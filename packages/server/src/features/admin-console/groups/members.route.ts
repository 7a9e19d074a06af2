/** The members of a group: listed, added by email address or group name, removed. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { GroupConflict, groupNameKey } from "../../../core/groups/group.ts";
import type { MemberRef } from "../../../core/groups/group-members.store.ts";
import { changeMembers } from "../../../core/groups/group-members.ts";
import { type CountedGroup, findLocalGroups } from "../../../core/groups/groups.store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { emailKey } from "../../../core/users/user.ts";
import { findSignInAccount } from "../../../core/users/users.store.ts";
import { formNotice } from "../../../html/components/form-page.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { acceptForm } from "../../../page-kit/accept-form.ts";
import {
  alreadyApplied,
  type Confirmation,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import { formView } from "../../../page-kit/form-view.ts";
import { bulkHandlers } from "../../../page-kit/list/bulk-acts.ts";
import { listExport } from "../../../page-kit/list/list-export.ts";
import { renderList } from "../../../page-kit/list/list-view.ts";
import {
  auditContext,
  type ConsoleDeps,
  consoleRoute,
  queryString,
  redirectTo,
  requestPath,
  requireAdministrator,
  requireId,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { aboutRecord } from "../../../page-kit/record-pages.ts";
import { showInTab } from "../../../page-kit/record-tabs.ts";
import { groupPages } from "./group-pages.ts";
import { groupRecord } from "./group-record.ts";
import { memberList } from "./member-list.ts";
import { type MemberInput, membersContent } from "./members.page.ts";
import { findListedMember, type ListedMember } from "./members.store.ts";

export function groupMembersRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/groups/:id/members", { get: showTab, post: add });
  consoleRoute(app, deps, "/oauth/manage/:org/groups/:id/members/bulk", {
    get: ofMembers((list) => bulkHandlers(list).get),
    post: ofMembers((list) => bulkHandlers(list).post),
  });
  consoleRoute(app, deps, "/oauth/manage/:org/groups/:id/members/export", { get: ofMembers(listExport) });
  confirmationRoute(app, deps, "/oauth/manage/:org/groups/:id/members/:member/remove", removal);
}

type Handler = (deps: ConsoleDeps, visit: Visit) => Promise<void>;

async function showTab(deps: ConsoleDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const signedIn = await requireAdministrator(deps, visit, addressWithQuery(visit));
  const group = await groupPages.require(deps, visit);
  await showMembers(deps, visit, { signedIn, group }, { input: { member: "" } });
}

const addressWithQuery = (visit: Visit): string =>
  `${requestPath(visit)}${queryString(Object.fromEntries(parseQuery(visit.request).values))}`;

/** What is done with the members of the group in the address. */
const ofMembers =
  (handlerOf: (list: ReturnType<typeof memberList>) => Handler): Handler =>
  async (deps, visit) => {
    requireId(visit);
    await requireAdministrator(deps, visit, addressWithQuery(visit));
    await handlerOf(memberList(await groupPages.require(deps, visit)))(deps, visit);
  };

async function showMembers(
  deps: ConsoleDeps,
  visit: Visit,
  { signedIn, group }: { signedIn: SignedIn; group: CountedGroup },
  shown: FormShown<MemberInput>,
): Promise<void> {
  const form = await formView(deps, visit, signedIn, "groups", shown, {});
  const { section } = await renderList(deps, visit, form, signedIn, memberList(group));
  const { member: label } = form.messages.console.groups.members;
  const body = await showInTab(deps, visit, groupRecord, {
    ...{ tab: "members", frame: form, stored: group, signedIn },
    content: () => membersContent({ ...form, group, section }),
    notice: formNotice({ ...form, labels: { member: label } }),
    faults: Object.keys(shown.state?.faults ?? {}).length,
  });
  await show(visit, form, body, shown.status);
}

const MAX_LETTERS = 254;

async function add(deps: ConsoleDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const form = await acceptForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const group = await groupPages.require(deps, visit);
  const member = (form.values.get("member") ?? "").trim().slice(0, MAX_LETTERS);
  const rerender = (shown: Partial<FormShown<MemberInput>>) =>
    showMembers(deps, visit, { signedIn, group }, { input: { member }, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const messages = pageMessages(visit, signedIn);
  const found = await findMember(deps, visit.organisation.id, member);
  if (!found) {
    const { unknown } = messages.console.groups.members;
    const faults = { member: unknown({ organisation: visit.organisation.name }) };
    return rerender({ state: { faults }, status: 400 });
  }
  try {
    const acting = auditContext(visit, signedIn);
    await changeMembers(deps, { ...acting, id: group.id, add: [found], remove: [] });
  } catch (error) {
    return rerender({ state: { faults: { member: explain(error, messages) } }, status: 400 });
  }
  await redirectTo(visit, `${requestPath(visit)}?done=added`);
}

/** @throws what is not about the member that was typed */
function explain(error: unknown, { console: { groups } }: Messages): string {
  if (!(error instanceof GroupConflict)) throw error;
  if (error.code === "group-cycle") return groups.members.cycle;
  if (error.code === "group-depth") return groups.members.depth;
  return groups.readOnly;
}

/** A user's email address comes before a group of the same name. */
async function findMember(
  { database: { query } }: ConsoleDeps,
  orgId: string,
  text: string,
): Promise<MemberRef | undefined> {
  if (text === "") return undefined;
  const account = await findSignInAccount(query, orgId, emailKey(text));
  if (account) return { type: "user", id: account.user.id };
  const [id] = (await findLocalGroups(query, orgId, [groupNameKey(text)])).values();
  return id === undefined ? undefined : { type: "group", id };
}

interface Membership {
  readonly group: CountedGroup;
  readonly member: ListedMember;
}

const removal: Confirmation<ConsoleDeps, Membership> = {
  ...aboutRecord(groupPages, ({ group }: Membership) => group, "/members"),
  load: async (deps, organisation, { member: memberId = "", ...params }) => {
    const group = await groupPages.find(deps, organisation, params);
    const member =
      group && isUuid(memberId)
        ? await findListedMember(deps.database.query, group, memberId.toLowerCase())
        : undefined;
    return group && member && { group, member };
  },
  isDone: (_, { member }) => !member.isMember,
  question: ({ console: { groups } }, { group: { displayName }, member: { name } }) => {
    const { members: text } = groups;
    return {
      heading: text.removeHeading({ name, group: displayName }),
      text: text.removeText,
      confirm: text.remove,
      confirmId: "member-remove-confirm",
    };
  },
  apply: async (deps, acting, { group, member }, { messages }) => {
    if (!member.isMember) return alreadyApplied;
    const { type, id } = member;
    try {
      await changeMembers(deps, { ...acting, id: group.id, add: [], remove: [{ type, id }] });
      return done("removed");
    } catch (error) {
      if (!(error instanceof GroupConflict)) throw error;
      const { groups: text } = messages.console;
      return { kind: "refused", title: text.members.notRemoved, text: text.readOnly };
    }
  },
};
