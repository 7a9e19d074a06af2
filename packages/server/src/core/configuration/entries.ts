/** The difference as it is told, to people and to programs: a line for each record. */
import type { ConsentStep, Difference, MemberChange, Step } from "./difference.ts";

const acts = {
  create: "created",
  change: "changed",
  same: "unchanged",
  remove: "removed",
  leave: "left-alone",
} as const;

export interface Entry {
  readonly act: (typeof acts)[keyof typeof acts];
  readonly kind: "organisation" | "scope" | "application" | "organisation-consent" | "preauthorization";
  /** The scope's or the application's; of a consent, that of its application. */
  readonly name: string;
  /** Of what is there already. */
  readonly id?: string;
  /** For a new record: what differs from the defaults. */
  readonly changes: readonly MemberChange[];
}

export function entriesOf({ organisation, scopes, applications }: Difference): Entry[] {
  return [
    {
      act: organisation.changes.length > 0 ? "changed" : "unchanged",
      kind: "organisation",
      name: "branding and policies",
      changes: organisation.changes,
    },
    ...scopes.map((step): Entry => {
      const { name } = "wanted" in step ? step.wanted : step.current;
      return { kind: "scope", name, ...toldOf(step, ({ id }) => id) };
    }),
    ...applications.flatMap(({ step, organisationConsent, preauthorizations }): Entry[] => {
      const { name } = "wanted" in step ? step.wanted : step.current.application;
      return [
        { kind: "application", name, ...toldOf(step, ({ application }) => application.id) },
        ...organisationConsent.map((one) => consentEntry("organisation-consent", name, one)),
        ...preauthorizations.map((one) => consentEntry("preauthorization", name, one)),
      ];
    }),
  ];
}

function consentEntry(kind: Entry["kind"], name: string, step: ConsentStep): Entry {
  const told = toldOf(step, ({ id }) => id);
  const isOver = step.act === "remove" || step.act === "leave";
  return {
    kind,
    name,
    ...told,
    changes: isOver ? [{ member: "scopes", before: step.current.scopes }] : told.changes,
  };
}

function toldOf<Current, Wanted>(
  step: Step<Current, Wanted>,
  idOf: (current: Current) => string,
): Pick<Entry, "act" | "id" | "changes"> {
  return {
    act: acts[step.act],
    ...("current" in step ? { id: idOf(step.current) } : {}),
    changes: "changes" in step ? step.changes : [],
  };
}

/** What applying it does; the rest stays as it is. */
export const isDone = ({ act }: Entry): boolean =>
  act === "created" || act === "changed" || act === "removed";

/** @returns how many of each; all are 0 when there is nothing to do */
export function countsOf(entries: readonly Entry[]) {
  const count = (act: Entry["act"]) => entries.filter((entry) => entry.act === act).length;
  return { created: count("created"), changed: count("changed"), removed: count("removed") };
}
