/** The form that makes a plain record, the one that changes it, its page by its tabs, and its deletion. */
import type { FastifyInstance } from "fastify";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { badge } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { choiceCard, choiceList } from "../../../html/components/choice-card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { defaultSubmit } from "../../../html/components/fields.ts";
import { editedCard, formPage } from "../../../html/components/form-page.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { recordIcon } from "../../../html/components/record-heading.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { acceptOneTimeForm, applyOnce, duplicateSubmission } from "../../../page-kit/accept-form.ts";
import { activityCard } from "../../../page-kit/audit-events/activity-card.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  confirmationRoute,
} from "../../../page-kit/confirmation.ts";
import { consoleFrame, pageMessages } from "../../../page-kit/console-frame.ts";
import { type EditForm, editRoute } from "../../../page-kit/edit-form.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  type CONSOLE,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  queryString,
  redirectTo,
  requestPath,
  requireRecentAuthentication,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { aboutRecord, type RecordView } from "../../../page-kit/record-pages.ts";
import { showFormInTab, type TabbedRecord, tabbedRecordRoutes } from "../../../page-kit/record-tabs.ts";
import type { Created, PlainRecord, PlainStored } from "./plain-record.ts";

type Url = `${typeof CONSOLE}/${string}`;

/** Each address as a literal of the folder that has it. */
export interface PlainUrls {
  readonly create: Url;
  readonly general: Url;
  readonly settings: Url;
  readonly activity: Url;
  readonly delete: Url;
}

export function plainRecordRoutes<
  Deps extends ConsoleDeps,
  Stored extends PlainStored,
  Input,
  Settings,
  Choices,
>(
  app: FastifyInstance,
  deps: Deps,
  record: PlainRecord<Deps, Stored, Input, Settings, Choices>,
  urls: PlainUrls,
): void {
  consoleRoute(app, deps, urls.create, {
    get: (_, visit) => showNew(deps, visit, record),
    post: (_, visit) => createFromForm(deps, visit, record),
  });
  const tabbed = tabbedRecord(record, urls);
  tabbedRecordRoutes(app, deps, tabbed);
  editRoute(app, deps, urls.settings, settingsForm(deps, record, tabbed));
  // Last, for it deletes the record: invariants/ submits all forms in this order.
  confirmationRoute(app, deps, urls.delete, deletion(record));
}

type Plain<Deps extends ConsoleDeps, Stored extends PlainStored, Input, Settings, Choices> = PlainRecord<
  Deps,
  Stored,
  Input,
  Settings,
  Choices
>;

async function showNew<Deps extends ConsoleDeps, Stored extends PlainStored, Input, Settings, Choices>(
  deps: Deps,
  visit: Visit,
  record: Plain<Deps, Stored, Input, Settings, Choices>,
): Promise<void> {
  const query = queryString(Object.fromEntries(parseQuery(visit.request).values));
  const signedIn = await requireRecentAuthentication(deps, visit, `${requestPath(visit)}${query}`);
  const input = record.empty(visit);
  if (input !== undefined) return showForm(deps, visit, signedIn, record, { input });
  const frame = await consoleFrame(deps, visit, signedIn, record.pages.current);
  await show(visit, frame, sortsPage(record, frame));
}

/** Which sort of record is made. */
function sortsPage<Deps extends ConsoleDeps, Stored extends PlainStored, Input, Settings, Choices>(
  record: Plain<Deps, Stored, Input, Settings, Choices>,
  frame: ConsoleFrame,
): Html {
  const text = record.texts(frame.messages);
  const cards = record.sorts?.(frame).map(({ name, ...sort }) =>
    choiceCard({
      ...sort,
      id: `sort-${name}`,
      uri: frame.consoleUri(`${record.path}/new${queryString({ sort: name })}`),
    }),
  );
  return consoleLayout({
    ...frame,
    breadcrumbs: record.pages.listCrumbs(frame),
    ...{ title: text.add, summary: text.newText, body: choiceList(cards) },
  });
}

async function showForm<Deps extends ConsoleDeps, Stored extends PlainStored, Input, Settings, Choices>(
  deps: Deps,
  visit: Visit,
  signedIn: SignedIn,
  record: Plain<Deps, Stored, Input, Settings, Choices>,
  shown: FormShown<Input>,
): Promise<void> {
  const choices = await record.choices(deps, visit.organisation.id);
  await showFormPage(deps, visit, signedIn, record.pages.current, shown, (view) => {
    const text = record.texts(view.messages);
    return formPage({
      ...view,
      breadcrumbs: record.pages.listCrumbs(view),
      ...{ title: text.add, summary: text.newText, cardLabel: text.add, id: `${record.noun}-form` },
      labels: record.labels(view.messages),
      hidden: record.hidden?.(view.input) ?? [],
      fields: [defaultSubmit, record.fields(view, choices, undefined)],
      submit: { id: `${record.noun}-create`, label: text.add },
      cancelUri: view.consoleUri(record.path),
    });
  });
}

async function createFromForm<Deps extends ConsoleDeps, Stored extends PlainStored, Input, Settings, Choices>(
  deps: Deps,
  visit: Visit,
  record: Plain<Deps, Stored, Input, Settings, Choices>,
): Promise<void> {
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const input = record.readInput(form, undefined);
  const rerender = (shown: Partial<FormShown<Input>>) =>
    showForm(deps, visit, signedIn, record, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);
  const messages = pageMessages(visit, signedIn);
  const validated = record.validate(input, messages, { orgId: visit.organisation.id });
  if ("faults" in validated) return rerender({ state: validated, status: 400 });
  const acting = auditContext(visit, signedIn);
  try {
    const created = await applyOnce(deps, form, (inside) => record.create(inside, acting, validated.content));
    if (created === "duplicate-submission") {
      const result = {
        label: messages.console.frame.pages[record.pages.current],
        uri: consolePath(visit.organisation, record.path),
      };
      const secret = record.secret && { secret: record.secret.sentBefore(messages) };
      return await rerender(duplicateSubmission({ result, ...secret }));
    }
    await showCreated(deps, visit, signedIn, record, created);
  } catch (error) {
    await rerender({ state: { faults: record.faults(error, messages) }, status: 400 });
  }
}

/** Its page; before that its secret, which is never shown again. */
async function showCreated<Deps extends ConsoleDeps, Stored extends PlainStored, Input, Settings, Choices>(
  deps: Deps,
  visit: Visit,
  signedIn: SignedIn,
  record: Plain<Deps, Stored, Input, Settings, Choices>,
  { id, secret }: Created,
): Promise<void> {
  if (!record.secret || secret === undefined)
    return redirectTo(visit, record.pages.path(visit.organisation, id, "?done=created"));
  const frame = await consoleFrame(deps, visit, signedIn, record.pages.current);
  const { id: orgId } = visit.organisation;
  const doneUri = record.pages.path(visit.organisation, id);
  const breadcrumbs = record.pages.listCrumbs(frame);
  await show(visit, frame, record.secret.page({ ...frame, breadcrumbs }, { orgId, secret, doneUri }));
}

/** Enabled or not: a dot and a word. */
const plainStatus = ({ enabled }: Pick<PlainStored, "enabled">, { console }: Messages) =>
  badge(enabled ? "good" : "plain", enabled ? console.plainRecords.on : console.plainRecords.off);

export const statusOf = <Deps extends ConsoleDeps, Stored extends PlainStored, Input, Settings, Choices>(
  record: Plain<Deps, Stored, Input, Settings, Choices>,
  stored: Stored,
  messages: Messages,
): Content => record.status?.(stored, messages) ?? plainStatus(stored, messages);

function tabbedRecord<Deps extends ConsoleDeps, Stored extends PlainStored, Input, Settings, Choices>(
  record: Plain<Deps, Stored, Input, Settings, Choices>,
  urls: PlainUrls,
): TabbedRecord<Deps, Stored, RecordView<Stored>> {
  return {
    place: record.pages,
    load: (_, view) => view,
    above: ({ record: stored, messages, uriOf }) => {
      const text = record.texts(messages);
      const remove = { id: `more-${record.noun}-delete`, uri: uriOf("/delete"), label: text.delete.button };
      return {
        head: {
          name: record.nameOf(stored, messages),
          mark: recordIcon(record.icon),
          facts: [statusOf(record, stored, messages), ...record.facts(stored, messages)],
          id: { id: `${record.noun}-id`, value: stored.id, label: text.id },
        },
        more: [{ ...remove, isQuestion: true, isDangerous: true }],
        done: text.done,
      };
    },
    tabs: [
      { name: "general", url: urls.general, content: (deps, view) => record.general(deps, view) },
      {
        name: "activity",
        url: urls.activity,
        content: (deps, { record: { id }, messages }, { organisation }) =>
          activityCard(deps, organisation, { id }, messages),
      },
      // A form: `settingsForm` shows it.
      { name: "settings", url: urls.settings },
    ],
  };
}

const settingsForm = <Deps extends ConsoleDeps, Stored extends PlainStored, Input, Settings, Choices>(
  deps: Deps,
  record: Plain<Deps, Stored, Input, Settings, Choices>,
  tabbed: TabbedRecord<Deps, Stored, RecordView<Stored>>,
): EditForm<Deps, Stored, Input, Settings> => ({
  current: record.pages.current,
  readOnlyAllowed: true,
  load: record.pages.require,
  lock: record.lock,
  version: ({ version }) => version,
  toInput: (stored) => record.toInput(stored),
  readInput: (form, { record: stored }) => record.readInput(form, stored),
  toDisplay: (input, { messages }) => record.toDisplay(input, messages),
  page: async (form, { record: stored, ...editing }) => {
    const choices = await record.choices(deps, stored.orgId);
    const labels = record.labels(editing.messages);
    return showFormInTab(deps, tabbed, "settings", form, {
      ...{ ...editing, record: stored, labels },
      content: (view) => [
        editedCard({
          ...form,
          ...{ label: record.texts(form.messages).settings, id: `${record.noun}-form` },
          fields: [defaultSubmit, record.fields(form, choices, stored)],
          submit: { id: `${record.noun}-save`, label: form.messages.console.frame.form.save },
        }),
        endCard(record, view),
      ],
    });
  },
  validate: (input, { messages, record: { orgId } }) => record.validate(input, messages, { orgId }),
  save: async (inside, settings, { visit, acting, record: stored }) => {
    await record.change(inside, acting, stored, settings);
    return record.pages.path(visit.organisation, stored.id, "?done=saved");
  },
  explain: (error, { messages }) => ({ faults: record.faults(error, messages) }),
});

function endCard<Deps extends ConsoleDeps, Stored extends PlainStored, Input, Settings, Choices>(
  record: Plain<Deps, Stored, Input, Settings, Choices>,
  { messages, uriOf }: RecordView<Stored>,
): Content {
  const { delete: text } = record.texts(messages);
  const button = {
    ...{ id: `${record.noun}-delete`, uri: uriOf("/delete"), label: text.button },
    ...{ kind: "danger" as const, isQuestion: true },
  };
  return card({
    ...{ id: `${record.noun}-end`, title: text.button, text: text.text, isDangerous: true },
    body: html`<div class="actions">${buttonLink(button)}</div>
`,
  });
}

const deletion = <Deps extends ConsoleDeps, Stored extends PlainStored, Input, Settings, Choices>(
  record: Plain<Deps, Stored, Input, Settings, Choices>,
): Confirmation<Deps, Stored> => ({
  ...aboutRecord(record.pages, (stored: Stored) => stored),
  load: record.pages.find,
  question: (messages, stored) => {
    const { delete: text } = record.texts(messages);
    return {
      heading: text.heading({ name: record.nameOf(stored, messages) }),
      text: text.text,
      confirm: text.button,
      confirmId: `${record.noun}-delete-confirm`,
    };
  },
  apply: async (deps, acting, stored, { organisation }) =>
    (await record.remove(deps, acting, stored))
      ? applied(consolePath(organisation, `${record.path}?done=deleted`))
      : alreadyApplied,
});
