/** users/sign-ups: who waits for an administrator; each or many approved or rejected. */
import type { FastifyInstance } from "fastify";
import { decideSignUp, MAX_REASON, SignUpRefused } from "../../../../core/sign-ups/decide-sign-up.ts";
import { findSignUp, listWaiting, type SignUp } from "../../../../core/sign-ups/sign-ups.store.ts";
import { buttonLink } from "../../../../html/components/button.ts";
import { textField } from "../../../../html/components/fields.ts";
import { relativeTime } from "../../../../html/components/relative-time.ts";
import { html } from "../../../../html/html.ts";
import type { Messages } from "../../../../html/messages/messages.ts";
import {
  alreadyApplied,
  type Confirmation,
  type ConfirmationResult,
  confirmationRoute,
  done,
} from "../../../../page-kit/confirmation.ts";
import { bulkAct } from "../../../../page-kit/list/bulk-act.ts";
import { bulkHandlers } from "../../../../page-kit/list/bulk-acts.ts";
import type { List } from "../../../../page-kit/list/list.ts";
import { listExport } from "../../../../page-kit/list/list-export.ts";
import { listRoute } from "../../../../page-kit/list/list-route.ts";
import { memoryList, mentions } from "../../../../page-kit/list/memory-list.ts";
import { consolePath, consoleRoute } from "../../../../page-kit/page.ts";
import type { UsersDeps } from "../user-pages.ts";

/** More wait nowhere: the oldest come first. */
const MAX_SHOWN = 1_000;

type Decision = "approve" | "reject";
type SignUpConfirmation = Confirmation<UsersDeps, SignUp>;

const nameOf = ({ firstname, surname }: SignUp): string => `${firstname} ${surname}`.trim();

const listUri: SignUpConfirmation["backUri"] = (organisation) => consolePath(organisation, "/users/sign-ups");

export function userSignUpsRoutes(app: FastifyInstance, deps: UsersDeps): void {
  listRoute(app, deps, "/oauth/manage/:org/users/sign-ups", signUpList);
  consoleRoute(app, deps, "/oauth/manage/:org/users/sign-ups/export", { get: listExport(signUpList) });
  consoleRoute(app, deps, "/oauth/manage/:org/users/sign-ups/bulk", bulkHandlers(signUpList));
  confirmationRoute(app, deps, "/oauth/manage/:org/users/sign-ups/:id/approve", decision("approve"));
  confirmationRoute(app, deps, "/oauth/manage/:org/users/sign-ups/:id/reject", decision("reject"));
}

const decision = (act: Decision): SignUpConfirmation => ({
  current: "users",
  load: async ({ database, clock }, organisation, { id = "" }) => {
    const found = await findSignUp(database.query, { orgId: organisation.id, id });
    return found && found.expiresAt > clock() ? found : undefined;
  },
  backUri: listUri,
  isDone: (_, { state }) => state !== "waiting",
  question: (messages, signUp, organisation) => {
    const text = messages.console.users.signUps;
    const { heading, confirm, explanation } = text[act];
    return {
      heading: heading({ name: nameOf(signUp) }),
      text: html`<p><bdi>${signUp.email}</bdi></p><p>${explanation}</p>`,
      ...{ confirm, confirmId: `sign-up-${act}` },
      isHarmless: act === "approve",
      fields: act === "reject" ? reasonField(messages) : undefined,
      breadcrumbs: [{ label: text.title, uri: listUri(organisation, signUp) }],
    };
  },
  apply: async (deps, acting, { id }, { values, messages }) => {
    const typed = act === "reject" ? (values.get("reason") ?? "").trim() : "";
    const asked = { ...acting, id, decision: act === "approve" ? "approved" : "rejected" } as const;
    try {
      const decided = await decideSignUp(deps, { ...asked, ...(typed === "" ? {} : { reason: typed }) });
      return decided ? done(asked.decision) : alreadyApplied;
    } catch (error) {
      if (error instanceof SignUpRefused) return refusal(error, messages);
      throw error;
    }
  },
});

function refusal({ code }: SignUpRefused, { console: { users } }: Messages): ConfirmationResult {
  const text = users.signUps.refused;
  return code === "decided" ? alreadyApplied : { kind: "refused", title: text.title, text: text[code] };
}

/** The same for each of many. */
const reasonField = (messages: Messages) =>
  textField({
    ...{ id: "reason", label: messages.console.users.signUps.reason, value: "", maxLength: MAX_REASON },
    ...{ hint: messages.console.users.signUps.reasonHint, isOptional: true, messages },
  });

const act = (name: Decision) =>
  bulkAct(
    ({ console: { users } }: Messages) => users.signUps.bulk[name],
    decision(name),
    (signUp: SignUp) => nameOf(signUp),
    name === "approve" ? { isHarmless: true } : { isRemoval: true, fields: reasonField },
  );

const sorts = {
  created: { isNumber: true, isDescending: false, value: ({ createdAt }: SignUp) => createdAt },
};

const signUpList = {
  current: "users",
  noun: "sign-up",
  uri: (organisation, rest = "") => consolePath(organisation, `/users/sign-ups${rest}`),
  texts: ({ console: { users } }) => {
    const { title, summary, search, none, noneText } = users.signUps;
    return { title, summary, search, none, noneText };
  },
  filters: {},
  sorts,
  ...memoryList<UsersDeps, SignUp, "created", Record<never, never>>({
    sorts,
    load: async ({ deps, organisation }) => {
      const all = await listWaiting(deps.database.query, organisation.id, MAX_SHOWN);
      return all.filter(({ expiresAt }) => expiresAt > deps.clock());
    },
    matches: (signUp, { search }) => mentions(search, [nameOf(signUp), signUp.email]),
  }),
  columns: [
    {
      label: ({ console: { users } }) => users.list.user,
      cell: (signUp) => html`<bdi>${nameOf(signUp)}</bdi>`,
    },
    {
      label: ({ console: { users } }) => users.list.email,
      cell: ({ email }) => html`<bdi>${email}</bdi>`,
    },
    {
      label: ({ console: { users } }) => users.signUps.since,
      sort: "created",
      cell: ({ createdAt }, { messages }) => relativeTime(createdAt, messages.format.minute),
    },
  ],
  nameOf,
  export: {
    name: "sign-ups",
    isPersonal: true,
    columns: {
      id: ({ id }) => id,
      email: ({ email }) => email,
      firstname: ({ firstname }) => firstname,
      surname: ({ surname }) => surname,
      createdAt: ({ createdAt }) => new Date(createdAt),
      expiresAt: ({ expiresAt }) => new Date(expiresAt),
    },
  },
  rowActions: ({ id }, { consoleUri, messages: { console } }) =>
    (["approve", "reject"] as const).map((name) =>
      buttonLink({
        ...{ id: `${name}-${id}`, uri: consoleUri(`/users/sign-ups/${id}/${name}`) },
        ...{ label: console.users.signUps.bulk[name].label, kind: "quiet", isQuestion: true },
      }),
    ),
  acts: { approve: act("approve"), reject: act("reject") },
  findName: async (deps, organisation, id) => {
    const found = await findSignUp(deps.database.query, { orgId: organisation.id, id });
    return found && nameOf(found);
  },
  done: ({ console: { users } }) => users.signUps.done,
} satisfies List<UsersDeps, SignUp, "created">;
