/** Parts of the schemas of the JSON APIs. */
import Type, { type TObjectOptions, type TProperties } from "typebox";

/** An object that has no other members: a misspelled one is rejected, not ignored. */
export const strictObject = <P extends TProperties>(members: P, options: TObjectOptions = {}) =>
  Type.Object(members, { ...options, additionalProperties: false });

/** The query of an operation that takes no parameters, and refuses any. */
export const noParameters = strictObject({});

export const timeOrNull = Type.Union([Type.String({ format: "date-time" }), Type.Null()]);
