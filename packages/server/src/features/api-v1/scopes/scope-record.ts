/** A custom scope as API v1 shows it. */
import Type, { type Static } from "typebox";
import { type CustomScope, claimSources, type ScopeClaim } from "../../../core/scopes/custom-scope.ts";
import type { ScopeContent } from "../../../core/scopes/custom-scopes.ts";
import { invalid, type MemberFault } from "../../../http/api/api-error.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { wireTime } from "../../../http/api/times.ts";
import { patchSchema } from "../frame/patch-schema.ts";
import { memoryFields } from "../lists/list-fields.ts";

const claim = strictObject({
  name: Type.String(),
  source: Type.Enum([...claimSources]),
  path: Type.Optional(
    Type.Union([
      Type.String({ description: "For `user` and `membership`: the attribute it is read from" }),
      Type.Null(),
    ]),
  ),
  value: Type.Optional(Type.Unknown({ description: "For `static`: the value for every user" })),
});

const content = {
  displayName: Type.String({ description: "As the consent page calls it; default: the name" }),
  description: Type.String(),
  claims: Type.Array(claim),
  sensitive: Type.Boolean({ description: "Highlighted on the consent page" }),
};

export const newScope = strictObject(
  {
    name: Type.String({ description: "As clients request it; cannot be changed" }),
    ...Type.Partial(Type.Object(content)).properties,
  },
  { title: "ApiNewScope" },
);
export const scopePatch = patchSchema(content, { title: "ApiScopeChange" });

export const scopeSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    name: Type.String(),
    ...content,
    description: Type.Union([Type.String(), Type.Null()]),
    createdAt: Type.String({ format: "date-time" }),
    updatedAt: Type.String({ format: "date-time" }),
  },
  { title: "ApiScope" },
);

export const scopeFields = memoryFields({
  ...({ id: "text", name: "text", displayName: "text", description: "text" } as const),
  ...({ sensitive: "boolean", createdAt: "time", updatedAt: "time" } as const),
});

export const scopeRecord = (scope: CustomScope) => ({
  id: scope.id,
  name: scope.name,
  displayName: scope.displayName,
  description: scope.description === "" ? null : scope.description,
  claims: scope.claims,
  sensitive: scope.sensitive,
  createdAt: wireTime(scope.createdAt),
  updatedAt: wireTime(scope.updatedAt),
});

type Sent = Partial<{
  displayName: string | null;
  description: string | null;
  claims: ReadonlyArray<Static<typeof claim>> | null;
  sensitive: boolean | null;
}>;

/** Of what was sent; null: as if it had never been set. @throws ApiError 422 */
export function scopeContent(name: string, sent: Sent): Partial<ScopeContent> {
  const { displayName, description, claims, sensitive } = sent;
  return {
    ...(displayName === undefined ? {} : { displayName: displayName ?? name }),
    ...(description === undefined ? {} : { description: description ?? "" }),
    ...(claims === undefined ? {} : { claims: readClaims(claims ?? []) }),
    ...(sensitive === undefined ? {} : { sensitive: sensitive ?? false }),
  };
}

function readClaims(claims: ReadonlyArray<Static<typeof claim>>): ScopeClaim[] {
  const faults: MemberFault[] = [];
  const read = claims.map(({ name, source, path, value }, index): ScopeClaim => {
    const isStatic = source === "static";
    const fault = (member: string, message: string) =>
      faults.push({ path: `/claims/${index}/${member}`, message: `${message} when the source is ${source}` });
    if (isStatic && value === undefined) fault("value", "is required");
    if (isStatic && path !== undefined && path !== null) fault("path", "is not allowed");
    if (!isStatic && (path === undefined || path === null)) fault("path", "is required");
    if (!isStatic && value !== undefined && value !== null) fault("value", "is not allowed");
    return isStatic ? { name, source, value } : { name, source, path: path ?? "" };
  });
  if (faults.length > 0) throw invalid(faults);
  return read;
}
