/** The body of a PATCH (RFC 7396). */
import Type, { type Static, type TNull, type TOptional, type TProperties, type TUnion } from "typebox";
import { strictObject } from "../../../http/api/schemas.ts";

type Patched<P extends TProperties> = { [Name in keyof P]: TOptional<TUnion<[P[Name], TNull]>> };
export type PatchOf<P extends TProperties> = Partial<{
  readonly [Name in keyof P]: Static<P[Name]> | null;
}>;

/** Each member may be left out, and null unsets it; what is not among them cannot be changed. */
export function patchSchema<P extends TProperties>(members: P, options: { readonly title?: string } = {}) {
  const patched = Object.entries(members).map(([name, schema]) => [
    name,
    Type.Optional(Type.Union([schema, Type.Null()])),
  ]);
  return strictObject(Object.fromEntries(patched) as Patched<P>, options);
}
