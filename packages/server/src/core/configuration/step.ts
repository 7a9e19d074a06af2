/** What applying a file does to one record. */

/** A member's old and new value; undefined where it is absent. */
export interface MemberChange {
  readonly member: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

export type Step<Current, Wanted> =
  | { readonly act: "create"; readonly wanted: Wanted; readonly changes: readonly MemberChange[] }
  | {
      readonly act: "change";
      readonly current: Current;
      readonly wanted: Wanted;
      readonly changes: readonly MemberChange[];
    }
  | { readonly act: "same"; readonly current: Current; readonly wanted: Wanted }
  | { readonly act: "remove"; readonly current: Current }
  | { readonly act: "leave"; readonly current: Current };
