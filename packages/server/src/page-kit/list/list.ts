/**
 * A list of records, declared: its columns, orders, filters, acts and export. list-route.ts makes its page, bulk-acts.ts its
 * acts, list-export.ts its file: a list that comes later is one declaration and its routes.
 */
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { SignedIn } from "../../core/sessions/session.ts";
import type { KeysetPage } from "../../db/keyset.ts";
import type { ConsoleFrame } from "../../html/components/console-layout.ts";
import type { Content, Html } from "../../html/html.ts";
import type { Messages } from "../../html/messages/messages.ts";
import type { ConsolePage } from "../console-frame.ts";
import type { BulkAct } from "./bulk-act.ts";
import type { Sorting } from "./list-place.ts";

/** What each filter can be, by the name of its parameter; `string` for a text that is typed. */
export type Choices = Readonly<Record<string, string>>;

/** Typed words, and what is chosen. */
export type Filter<C extends Choices> = { readonly search: string } & {
  readonly [Name in keyof C]?: C[Name] | undefined;
};

/** Called as the column that it narrows. */
export interface ListFilter<Choice extends string = string> {
  label(messages: Messages): string;
  /** Without them a text is typed. */
  readonly choices?: readonly Choice[];
  names?(messages: Messages): Readonly<Record<string, string>>;
  /** `Any status`. Without it the first choice applies until another is made. */
  any?(messages: Messages): string;
}

export interface ListContext<Deps> {
  readonly deps: Deps;
  readonly organisation: Organisation;
  readonly messages: Messages;
}

/** What a cell is made from besides its row. */
export type ListFrame = Pick<ConsoleFrame, "consoleUri" | "messages"> & {
  readonly organisation: Organisation;
  readonly reader: SignedIn["user"];
};

export interface ListColumn<Row, Sort extends string, C extends Choices> {
  label(messages: Messages): string;
  readonly sort?: Sort;
  /** Always, unless this says otherwise. */
  isShown?(filter: Filter<C>): boolean;
  /** The first column names the record. */
  cell(row: Row, frame: ListFrame): Content;
}

/** Comparable: a database or memory-list.ts orders by it, and a cursor holds it. */
export type ListSort<Row> = Sorting & { value(row: Row): string | number };

export interface ListQuery<Sort extends string, C extends Choices> {
  readonly filter: Filter<C>;
  readonly page: KeysetPage & { readonly sort: Sort };
  readonly limit: number;
}

/** Where the rows come from. */
export interface ListSource<Deps, Row, Sort extends string, C extends Choices> {
  /** Of this organisation, in the page's order. */
  rows(context: ListContext<Deps>, query: ListQuery<Sort, C>): Promise<readonly Row[]>;
  /** Counts no further than `max`. */
  count(context: ListContext<Deps>, filter: Filter<C>, max: number): Promise<number>;
}

/** Of a file: stable names in English, whoever reads it. */
export interface ListExport<Row> {
  /** Begins the file's name, and is what the audit log calls it. */
  readonly name: string;
  /** Names or addresses of users are in it: asks for a recent sign-in, as the audit log's export does. */
  readonly isPersonal?: true;
  readonly columns: Readonly<Record<string, (row: Row) => string | number | boolean | Date | null>>;
}

export interface List<
  Deps,
  Row extends { readonly id: string },
  Sort extends string,
  C extends Choices = Record<never, never>,
> extends ListSource<Deps, Row, Sort, C> {
  readonly current: ConsolePage;
  /** @param rest begins with a slash or a question mark; empty for the list itself */
  uri(organisation: Pick<Organisation, "id">, rest?: string): string;
  texts(
    messages: Messages,
    organisation: Organisation,
    filter?: Filter<C>,
  ): {
    readonly title: string;
    readonly summary?: string;
    /** Above the search field: `Name or client ID`. */
    readonly search: string;
    /** In place of the list when there is nothing, and nothing was searched for. */
    readonly none?: string;
    readonly noneText?: string;
  };
  /** Its filters can be saved, under this name of the list: see saved-filters.ts. */
  readonly savedAs?: string;
  readonly filters: { readonly [Name in keyof C]: ListFilter<C[Name]> };
  /** Parameters of what stands beside it on its page, such as a chart's range: narrowing and sorting leave them as they are. */
  readonly keeps?: readonly string[];
  /** The first one is the default. */
  readonly sorts: { readonly [Name in Sort]: ListSort<Row> };
  readonly columns: ReadonlyArray<ListColumn<Row, Sort, C>>;
  /** Begins the id of a row's element. */
  readonly noun: string;
  nameOf(row: Row, messages: Messages): string;
  rowActions?(row: Row, frame: ListFrame): Content;
  /** What is shown in place of rows: why a filter can't mean anything, or what it may mean. */
  insteadOfRows?(context: ListContext<Deps>, filter: Filter<C>): Promise<Html | undefined>;
  /** What can be done with ticked rows, by the value of the button. */
  readonly acts?: Readonly<Record<string, BulkAct<Deps>>>;
  /** Rows that a script keeps up to date (list-live.ts), and what it reads out of one. */
  readonly live?: { says(row: Row, messages: Messages): string };
  /** All, unless this says otherwise. */
  isSelectable?(row: Row): boolean;
  /** The name of one of its records by id, for the result of an act. */
  findName?(
    deps: Deps,
    organisation: Organisation,
    id: string,
    messages: Messages,
  ): Promise<string | undefined>;
  readonly export?: ListExport<Row>;
  /** Of its own page: the button that makes the first one, and others beside it. */
  create?(frame: ConsoleFrame): Html;
  /** What an empty list offers in its place. */
  emptyAction?(frame: ConsoleFrame): Html;
  beside?(frame: ConsoleFrame, deps: Deps): Content;
  /** What was just done, by the value of `done`. */
  done?(messages: Messages): Readonly<Record<string, string>>;
}

/** Whichever records it lists: what neither shows a row nor sorts one. */
export type AnyList<Deps> = Pick<
  List<Deps, { readonly id: string }, string, Choices>,
  "current" | "uri" | "acts" | "findName" | "keeps"
> & {
  readonly filters: Readonly<Record<string, ListFilter>>;
  readonly sorts: Readonly<Record<string, Sorting>>;
};
