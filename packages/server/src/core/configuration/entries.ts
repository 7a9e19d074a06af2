/** The difference as shown to users and in `--json`: one entry per record. */

import type { ConsentStep, Difference } from "./difference.ts";
import { emailName } from "./email-texts.ts";
import { sections as allSections } from "./sections/all-sections.ts";
import type { SectionKind } from "./sections/section.ts";
import type { SectionSteps } from "./sections/section-steps.ts";
import type { MemberChange, Step } from "./step.ts";

const acts = {
  create: "created",
  change: "changed",
  same: "unchanged",
  remove: "removed",
  leave: "left-alone",
} as const;

export interface Entry {
  readonly act: (typeof acts)[keyof typeof acts];
  readonly kind:
    | "organisation"
    | "email"
    | "scope"
    | "application"
    | "organisation-consent"
    | "preauthorization"
    | SectionKind;
  /** Of the scope or application; for a consent, of its application; for an email, its template and language. */
  readonly name: string;
  /** Of an existing record. */
  readonly id?: string;
  /** For a new record: the members that differ from the defaults. */
  readonly changes: readonly MemberChange[];
}

export function entriesOf({ organisation, emails, scopes, applications, sections }: Difference): Entry[] {
  return [
    {
      act: organisation.changes.length > 0 ? "changed" : "unchanged",
      kind: "organisation",
      name: "branding and policies",
      changes: organisation.changes,
    },
    ...emails.map((step): Entry => {
      const { id: _, ...entry } = entryOf(step, emailName);
      return { kind: "email", name: emailName("wanted" in step ? step.wanted : step.current), ...entry };
    }),
    ...scopes.map((step): Entry => {
      const { name } = "wanted" in step ? step.wanted : step.current;
      return { kind: "scope", name, ...entryOf(step, ({ id }) => id) };
    }),
    ...applications.flatMap(({ step, organisationConsent, preauthorizations }): Entry[] => {
      const { name } = "wanted" in step ? step.wanted : step.current.application;
      return [
        { kind: "application", name, ...entryOf(step, ({ application }) => application.id) },
        ...organisationConsent.map((one) => consentEntry("organisation-consent", name, one)),
        ...preauthorizations.map((one) => consentEntry("preauthorization", name, one)),
      ];
    }),
    ...sections.flatMap(sectionEntries),
  ];
}

function sectionEntries({ name: section, steps }: SectionSteps): Entry[] {
  const { kind, nameOf } = allSections[section];
  return steps.map((step) => {
    const record = "wanted" in step ? step.wanted : step.current.record;
    return { kind, name: nameOf(record), ...entryOf(step, ({ id }) => id) };
  });
}

function consentEntry(kind: Entry["kind"], name: string, step: ConsentStep): Entry {
  const entry = entryOf(step, ({ id }) => id);
  const isOver = step.act === "remove" || step.act === "leave";
  return {
    kind,
    name,
    ...entry,
    changes: isOver ? [{ member: "scopes", before: step.current.scopes }] : entry.changes,
  };
}

function entryOf<Current, Wanted>(
  step: Step<Current, Wanted>,
  idOf: (current: Current) => string,
): Pick<Entry, "act" | "id" | "changes"> {
  return {
    act: acts[step.act],
    ...("current" in step ? { id: idOf(step.current) } : {}),
    changes: "changes" in step ? step.changes : [],
  };
}

/** Whether applying the file changes this record. */
export const isDone = ({ act }: Entry): boolean =>
  act === "created" || act === "changed" || act === "removed";

/** @returns the number of each; all 0 without a change */
export function countsOf(entries: readonly Entry[]) {
  const count = (act: Entry["act"]) => entries.filter((entry) => entry.act === act).length;
  return { created: count("created"), changed: count("changed"), removed: count("removed") };
}
