/**
 * A record of few fields: one list, one form that makes it and changes it, one page with tabs. Declared once, by its fields and its rules
 * in `core/`; each folder writes its own addresses.
 */
import type { Db } from "../../../db/open.ts";
import type { ConsoleFrame, ConsoleView } from "../../../html/components/console-layout.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import type { IconName } from "../../../html/components/icons.ts";
import type { Content, Html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { SentForm } from "../../../page-kit/accept-form.ts";
import type { auditContext, ConsoleDeps, Visit } from "../../../page-kit/page.ts";
import type { RecordPages, RecordView } from "../../../page-kit/record-pages.ts";

export interface PlainStored {
  readonly id: string;
  readonly orgId: string;
  readonly enabled: boolean;
  readonly createdAt: number;
  readonly version: number;
}

export interface PlainTexts {
  readonly summary: (values: { organisation: string }) => string;
  readonly search: string;
  readonly none: string;
  readonly noneText: string;
  readonly add: string;
  readonly newText: string;
  readonly id: string;
  readonly settings: string;
  readonly delete: {
    readonly button: string;
    readonly heading: (values: { name: string }) => string;
    readonly text: string;
  };
  readonly done: { readonly created: string; readonly saved: string; readonly deleted: string };
}

export type Validated<Content> =
  | { readonly content: Content }
  | { readonly faults: Readonly<Record<string, string>> };

export interface PlainSort {
  /** As `empty` reads it from the address, as `sort`. */
  readonly name: string;
  readonly title: string;
  readonly text: string;
  readonly mark: IconName;
}

type Acting = ReturnType<typeof auditContext>;

export interface Created {
  readonly id: string;
  /** Shown once. */
  readonly secret?: string;
}

export interface ShownOnce {
  readonly orgId: string;
  readonly secret: string;
  /** Of the record. */
  readonly doneUri: string;
}

export interface PlainRecord<Deps extends ConsoleDeps, Stored extends PlainStored, Input, Settings, Choices> {
  readonly pages: RecordPages<Stored>;
  /** Of the list, below the console. */
  readonly path: `/${string}`;
  /** Begins the ids of its elements. */
  readonly noun: string;
  readonly icon: IconName;
  texts(messages: Messages): PlainTexts;
  nameOf(stored: Stored, messages: Messages): string;
  /** Whether it is enabled, unless there is more to say. */
  status?(stored: Stored, messages: Messages): Content;
  /** Beside its status, below its name. */
  facts(stored: Stored, messages: Messages): readonly Content[];
  /** By field. */
  labels(messages: Messages): Readonly<Record<string, string>>;
  /** What the fields offer. */
  choices(deps: Pick<Deps, "database">, orgId: string): Promise<Choices>;
  /** Of a new one, as its address says; undefined while its sort is still to be chosen. */
  empty(visit: Visit): Input | undefined;
  /** What a new one can be. */
  sorts?(frame: ConsoleFrame): readonly PlainSort[];
  /** Fields that a new one carries unseen. */
  hidden?(input: Input): ReadonlyArray<{ readonly name: string; readonly value: string }>;
  toInput(stored: Stored): Input;
  /** @param before of a record that is changed */
  readInput(form: SentForm, before: Stored | undefined): Input;
  toDisplay(input: Input, messages: Messages): Readonly<Record<string, string>>;
  fields(form: FormView<Input>, choices: Choices, before: Stored | undefined): Content;
  validate(input: Input, messages: Messages, of: { readonly orgId: string }): Validated<Settings>;
  lock(tx: Db, stored: Stored): Promise<unknown>;
  create(inside: Deps, acting: Acting, settings: Settings): Promise<Created>;
  /** Of a record with a secret: what is shown when it was created, and what is said when its form comes again. */
  readonly secret?: {
    page(frame: ConsoleFrame & Pick<ConsoleView, "breadcrumbs">, shown: ShownOnce): Html;
    sentBefore(messages: Messages): string;
  };
  change(inside: Deps, acting: Acting, stored: Stored, settings: Settings): Promise<unknown>;
  /** @returns false when there is none */
  remove(inside: Deps, acting: Acting, stored: Stored): Promise<boolean>;
  /** What the rules refuse, by field. @throws what is not about what was typed */
  faults(error: unknown, messages: Messages): Readonly<Record<string, string>>;
  general(deps: Deps, view: RecordView<Stored>): Content | Promise<Content>;
}

/** Texts by field, of faults that name members as `scopes[2]` or `jwks.keys.0`: the first of each. */
export const faultsByField = (
  faults: ReadonlyArray<{ readonly path: string }>,
  texts: Readonly<Record<string, string>>,
): Record<string, string> =>
  Object.fromEntries(
    faults.toReversed().map(({ path }) => {
      const field = path.split(/[[./]/)[0] ?? "";
      return [field, texts[field] ?? path];
    }),
  );

/** Words of a text field, each once. */
export const wordsOf = (text: string): string[] => [
  ...new Set(text.split(/\s+/).filter((word) => word !== "")),
];
