/**
 * A record whose page has tabs, declared once: how it is found, what stands above every tab, and each tab with its address and
 * content. Each tab is a page of its own, and reads only what it shows.
 */
import type { FastifyInstance } from "fastify";
import type { Organisation } from "../core/organisations/organisation.ts";
import type { SignedIn } from "../core/sessions/session.ts";
import type { ConsoleFrame, ConsoleView } from "../html/components/console-layout.ts";
import { formNotice } from "../html/components/form-page.ts";
import type { FormView } from "../html/components/form-state.ts";
import { tabs } from "../html/components/tabs.ts";
import type { Content, Html } from "../html/html.ts";
import type { Messages } from "../html/messages/messages.ts";
import { NotFound } from "../http/errors.ts";
import { parseQuery } from "../http/form-body.ts";
import { findLastChange } from "./actor-names.ts";
import { type ConsolePage, consoleFrame } from "./console-frame.ts";
import type { Editing } from "./edit-form.ts";
import {
  type ConsoleDeps,
  consoleRoute,
  queryString,
  requestPath,
  requireAdministrator,
  show,
  type Visit,
} from "./page.ts";
import { isPortalPage } from "./portal-visit.ts";
import { type RecordParts, type RecordView, recordLayout } from "./record-pages.ts";

type OwnTabs = Messages["console"]["applications"]["tabs"];
type SharedTabs = Messages["console"]["frame"]["recordTabs"];
export type TabName = Exclude<keyof OwnTabs | keyof SharedTabs, "label">;
type TabLabels = { readonly label: string } & Readonly<Partial<Record<TabName, string>>>;

export interface RecordTab<Deps, View, Stored = never> {
  readonly name: TabName;
  /** Of records of one sort alone; at the address of another there is nothing. */
  isShown?(record: Stored): boolean;
  /** The first tab's is the record's own, the others' are below it. */
  readonly url: `/${string}`;
  /** Left out where the tab is a form, whose route shows it with `showInTab`. */
  content?(deps: Deps, view: View, visit: Visit): Content | Promise<Content>;
  /** @see ConsoleView */
  readonly scripts?: readonly string[];
}

/** How a record is found, and where its pages are. */
export interface RecordPlace<Stored> {
  readonly current: ConsolePage;
  /** @throws NotFound */
  require(deps: Pick<ConsoleDeps, "database">, visit: Visit): Promise<Stored>;
  /** @param rest below the record's own address */
  pathOf(organisation: Pick<Organisation, "id">, record: Stored, rest: string): string;
  /** Of what is above the record. */
  crumbsAbove(frame: ConsoleFrame, record: Stored): ConsoleView["breadcrumbs"];
}

export interface TabbedRecord<Deps extends ConsoleDeps, Stored extends { readonly id: string }, View> {
  readonly place: RecordPlace<Stored>;
  /** Adds what more than one of the tabs, or what stands above them, needs. */
  load(deps: Deps, view: RecordView<Stored>, visit: Visit, signedIn: SignedIn): View | Promise<View>;
  /** What stands above every tab. */
  above(view: View): RecordParts;
  readonly tabs: readonly [RecordTab<Deps, View, Stored>, ...RecordTab<Deps, View, Stored>[]];
  /** Where they are not those of every record. */
  labels?(messages: Messages): TabLabels;
}

/** What the record's pages below a tab, or their confirmations, return to. */
export const tabRest = (
  {
    tabs: [first, ...others],
  }: { readonly tabs: readonly [{ url: string }, ...{ name: string; url: string }[]] },
  name: TabName,
): string => others.find((tab) => tab.name === name)?.url.slice(first.url.length) ?? "";

/** GET of every tab that has content, open to any administrator. */
export function tabbedRecordRoutes<
  Deps extends ConsoleDeps,
  Stored extends { readonly id: string },
  View extends RecordView<Stored>,
>(app: FastifyInstance, deps: Deps, record: TabbedRecord<Deps, Stored, View>): void {
  for (const tab of record.tabs) {
    if (!tab.content) continue;
    consoleRoute(app, deps, tab.url as `/oauth/manage/:org/${string}`, {
      get: (_, visit) => showTab(deps, visit, record, tab),
    });
  }
}

/** The page of a tab, for a record whose addresses are not the console's. */
export async function showTab<
  Deps extends ConsoleDeps,
  Stored extends { readonly id: string },
  View extends RecordView<Stored>,
>(
  deps: Deps,
  visit: Visit,
  record: TabbedRecord<Deps, Stored, View>,
  tab: RecordTab<Deps, View, Stored>,
): Promise<void> {
  const query = queryString(Object.fromEntries(parseQuery(visit.request).values));
  const signedIn = await requireAdministrator(deps, visit, `${requestPath(visit)}${query}`);
  const stored = await record.place.require(deps, visit);
  if (tab.isShown?.(stored) === false) throw new NotFound("tab");
  const frame = await consoleFrame(deps, visit, signedIn, record.place.current);
  const page = await showInTab(deps, visit, record, {
    ...{ tab: tab.name, frame, stored, signedIn },
    content: (view) => tab.content?.(deps, view, visit),
  });
  await show(visit, frame, page);
}

/** The page of a tab around its content, which may be a form. */
export async function showInTab<
  Deps extends ConsoleDeps,
  Stored extends { readonly id: string },
  View extends RecordView<Stored>,
>(
  deps: Deps,
  visit: Visit,
  record: TabbedRecord<Deps, Stored, View>,
  shown: {
    readonly tab: TabName;
    readonly frame: ConsoleFrame;
    readonly stored: Stored;
    readonly signedIn: SignedIn;
    content(view: View): Content | Promise<Content>;
    readonly notice?: Html | undefined;
    /** Of the form in the tab: counted beside its name. */
    readonly faults?: number;
  },
): Promise<Html> {
  const { tab, frame, stored, signedIn, notice, faults = 0 } = shown;
  const { place } = record;
  const { organisation } = visit;
  const found: RecordView<Stored> = {
    ...frame,
    breadcrumbs: place.crumbsAbove(frame, stored),
    record: stored,
    uriOf: (rest) => place.pathOf(organisation, stored, rest),
    // An administrator's name is no business of somebody without an account.
    lastChange: frame.portal
      ? undefined
      : await findLastChange(deps, organisation.id, stored.id, frame.messages),
    done: parseQuery(visit.request).values.get("done"),
  };
  const view = await record.load(deps, found, visit, signedIn);
  const parts = record.above(view);
  const { name, scripts } = record.tabs.find((one) => one.name === tab) ?? record.tabs[0];
  const labels = labelsOf(record, frame.messages);
  const isFirst = name === record.tabs[0].name;
  return recordLayout(view, {
    ...parts,
    ...(notice && { notice }),
    title: isFirst ? parts.head.name : `${labels[name] ?? name} – ${parts.head.name}`,
    scripts,
    tabs: tabNavigation(record, view, { name, faults }),
    body: await shown.content(view),
  });
}

/** The page of an edit form (edit-form.ts) that is a tab: what went wrong stands above it. */
export const showFormInTab = <
  Deps extends ConsoleDeps,
  Stored extends { readonly id: string },
  View extends RecordView<Stored>,
>(
  deps: Deps,
  record: TabbedRecord<Deps, Stored, View>,
  tab: TabName,
  form: FormView<unknown>,
  shown: Editing<Stored> & {
    /** By field, for the faults above the form. */
    readonly labels: Readonly<Record<string, string>>;
    content(view: View): Content;
  },
): Promise<Html> =>
  showInTab(deps, shown.visit, record, {
    ...{ tab, frame: form, stored: shown.record, signedIn: shown.signedIn },
    content: shown.content,
    notice: formNotice({ ...form, labels: shown.labels }),
    faults: Object.keys(form.state.faults ?? {}).length,
  });

const labelsOf = (record: Pick<TabbedRecord<never, never, never>, "labels">, messages: Messages): TabLabels =>
  record.labels?.(messages) ?? messages.console.frame.recordTabs;

function tabNavigation<Deps extends ConsoleDeps, Stored extends { readonly id: string }, View>(
  record: TabbedRecord<Deps, Stored, View>,
  { record: stored, uriOf, messages, portal }: RecordView<Stored>,
  current: { readonly name: TabName; readonly faults: number },
): Html {
  const labels = labelsOf(record, messages);
  const link = ({ name }: { readonly name: TabName }) => ({
    id: `tab-${name}`,
    label: labels[name] ?? name,
    uri: uriOf(tabRest(record, name)),
    isCurrent: name === current.name,
    ...(name === current.name && current.faults > 0 ? { count: current.faults } : {}),
  });
  const shown = record.tabs.filter(
    (tab) => (tab.isShown?.(stored) ?? true) && (!portal || isPortalPage(tab.url)),
  );
  return tabs({ label: labels.label, links: shown.map(link) });
}
