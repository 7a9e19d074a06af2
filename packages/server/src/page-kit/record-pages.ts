/** The pages of one kind of record: the record in an address, its addresses and breadcrumbs, and its own page. */
import { isUuid } from "@signet/protocol/hash";
import type { Organisation } from "../core/organisations/organisation.ts";
import type { Db } from "../db/open.ts";
import { buttonLink } from "../html/components/button.ts";
import { card } from "../html/components/card.ts";
import { type ConsoleFrame, type ConsoleView, consoleLayout } from "../html/components/console-layout.ts";
import { copyStatus } from "../html/components/copy-field.ts";
import { type OverflowItem, overflowMenu } from "../html/components/overflow-menu.ts";
import { lastChangeLine } from "../html/components/record-form.ts";
import { type RecordHeading, recordHeading } from "../html/components/record-heading.ts";
import { toast } from "../html/components/toast.ts";
import { type Html, html } from "../html/html.ts";
import { NotFound } from "../http/errors.ts";
import type { LastChange } from "./actor-names.ts";
import type { Confirmation } from "./confirmation.ts";
import type { ConsolePage } from "./console-frame.ts";
import { type ConsoleDeps, consolePath, requireId, type Visit } from "./page.ts";

type OrganisationId = Pick<Organisation, "id">;
type Crumbs = ConsoleView["breadcrumbs"];

export type RecordPages<Stored extends { readonly id: string }> = ReturnType<typeof recordPages<Stored>>;

export function recordPages<Stored extends { readonly id: string }>(
  current: ConsolePage,
  listPath: `/${string}`,
  findById: (db: Db, orgId: string, id: string) => Promise<Stored | undefined>,
  nameOf: (record: Stored) => string,
) {
  const listCrumbs = ({ messages, consoleUri }: ConsoleFrame): Crumbs => [
    { label: messages.console.frame.pages[current], uri: consoleUri(listPath) },
  ];
  return {
    current,
    /** @param rest below the record's own address */
    path: (organisation: OrganisationId, id: string, rest = ""): string =>
      consolePath(organisation, `${listPath}/${id}${rest}`),
    find: async (
      { database }: Pick<ConsoleDeps, "database">,
      organisation: OrganisationId,
      { id = "" }: Readonly<Record<string, string>>,
    ): Promise<Stored | undefined> =>
      isUuid(id) ? findById(database.query, organisation.id, id) : undefined,
    /** @throws NotFound */
    require: async ({ database }: Pick<ConsoleDeps, "database">, visit: Visit): Promise<Stored> => {
      const record = await findById(database.query, visit.organisation.id, requireId(visit));
      if (!record) throw new NotFound("record");
      return record;
    },
    listCrumbs,
    pathOf: (organisation: OrganisationId, { id }: Stored, rest: string): string =>
      consolePath(organisation, `${listPath}/${id}${rest}`),
    crumbsAbove: listCrumbs,
    /** For pages below a record's own. */
    crumbs: (frame: ConsoleFrame, record: Stored): Crumbs => [
      ...listCrumbs(frame),
      { label: nameOf(record), uri: frame.consoleUri(`${listPath}/${record.id}`) },
    ],
  };
}

/** What a record's own page is rendered from, besides what its feature adds. */
export type RecordView<Stored> = ConsoleFrame &
  Pick<ConsoleView, "breadcrumbs"> & {
    record: Stored;
    /** @param rest below the record's own address */
    uriOf(rest: string): string;
    lastChange: LastChange | undefined;
    /** What was just done, as the address says it. */
    done: string | undefined;
  };

/** What stands above a record's content. */
export type RecordParts = Pick<ConsoleView, "actions"> & {
  head: RecordHeading;
  /** What else can be done with it. */
  more?: readonly OverflowItem[];
  /** Texts for what was just done. */
  done: Readonly<Record<string, string>>;
};

/** @param page.title of one of its tabs; the record's name by default */
export const recordLayout = (
  view: RecordView<unknown>,
  page: RecordParts &
    Pick<ConsoleView, "body" | "scripts" | "notice"> & { title?: string; tabs?: Html | undefined },
): Html =>
  consoleLayout({
    ...view,
    ...recordHeading(page.head, view.messages),
    title: page.title ?? page.head.name,
    scripts: page.scripts,
    actions: [page.actions, overflowMenu(page.more ?? [], view.messages)],
    notice: page.notice ?? doneNotice(view, page.done),
    body: [page.tabs, page.body, lastChangeLine(view.lastChange, view.messages), copyStatus],
  });

/** What was just done; a record that was just disabled can be enabled from there, and the other way round. */
export function doneNotice(
  view: Pick<RecordView<unknown>, "done" | "record" | "uriOf" | "signOut" | "messages" | "undo">,
  texts: Readonly<Record<string, string>>,
): Html | undefined {
  const { done = "", record, messages } = view;
  const text = Object.hasOwn(texts, done) ? texts[done] : undefined;
  if (text === undefined) return undefined;
  const { disabledAt } = record as { disabledAt?: number | null };
  const isStill = done === "disabled" ? typeof disabledAt === "number" : disabledAt === null;
  if ((done !== "disabled" && done !== "enabled") || !isStill) return toast(text, view);
  // The token of this browser's forms, whatever they are for.
  const fields = [{ name: "csrf", value: view.signOut.csrf }];
  const { enableAgain, undo: label } = messages.console.frame;
  const undo =
    done === "disabled"
      ? { action: view.uriOf("/enable"), label: enableAgain, fields }
      : { action: view.uriOf("/disable"), label, fields };
  return toast(text, view, { undo });
}

type EndAct = "enable" | "disable" | "delete";
type Ending = Pick<RecordView<{ readonly disabledAt: number | null }>, "record" | "uriOf">;
type EndTexts = { readonly noun: string } & Readonly<Record<EndAct, string>>;

/** Disable or enable, and delete. @param texts.noun begins the ids */
function endActs({ record, uriOf }: Ending, texts: EndTexts) {
  const acts: readonly EndAct[] = [record.disabledAt === null ? "disable" : "enable", "delete"];
  return acts.map((act) => ({
    id: `${texts.noun}-${act}`,
    uri: uriOf(`/${act}`),
    label: texts[act],
    isQuestion: true,
    isDangerous: act !== "enable",
  }));
}

/** Disables, enables or deletes a record. */
export function endCard(ending: Ending, view: { id: string; title: string; text: string } & EndTexts): Html {
  const buttons = endActs(ending, view).map(({ isDangerous, ...act }) =>
    buttonLink({ ...act, kind: isDangerous ? "danger" : "secondary" }),
  );
  return card({
    ...view,
    isDangerous: true,
    body: html`<div class="actions">${buttons}</div>
`,
  });
}

/** The same for the menu of a record's other acts. */
export const endItems = (ending: Ending, texts: EndTexts): OverflowItem[] =>
  endActs(ending, texts).map((act) => ({ ...act, id: `more-${act.id}` }));

/**
 * What confirmations about a record, or about a part of it, share: they return to the record's page.
 * @param rest of the tab that they return to
 */
export const aboutRecord = <Stored extends { readonly id: string }, Pending>(
  pages: RecordPages<Stored>,
  recordOf: (pending: Pending) => Stored,
  rest = "",
): Pick<Confirmation<never, Pending>, "current" | "backUri" | "breadcrumbs"> => ({
  current: pages.current,
  backUri: (organisation, pending) => pages.path(organisation, recordOf(pending).id, rest),
  breadcrumbs: (frame, pending) => pages.crumbs(frame, recordOf(pending)),
});
