/** The scalar members of a record, by which its list is filtered and sorted. */

export type FieldKind = "text" | "number" | "boolean" | "time";
export type ListFields = Readonly<Record<string, { readonly kind: FieldKind }>>;

/** For lists that are read as a whole: the members of the record itself. */
export const memoryFields = <Name extends string>(fields: Readonly<Record<Name, FieldKind>>): ListFields =>
  Object.fromEntries(Object.entries<FieldKind>(fields).map(([name, kind]) => [name, { kind }]));
