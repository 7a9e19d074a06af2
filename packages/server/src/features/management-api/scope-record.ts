/** A custom scope on the wire (wire-contract.md §5). */
import Type, { type Static } from "typebox";
import { type CustomScope, claimSources, type ScopeClaim } from "../../core/scopes/custom-scope.ts";
import type { ScopeContent } from "../../core/scopes/custom-scopes.ts";
import { invalid, type MemberFault } from "../../http/api/api-error.ts";
import { strictObject } from "../../http/api/schemas.ts";
import { wireTime } from "../../http/api/times.ts";

const claimSchema = strictObject({
  name: Type.String(),
  source: Type.Enum([...claimSources]),
  path: Type.Optional(
    Type.String({ description: "For `user` and `membership`: the attribute it is read from" }),
  ),
  value: Type.Optional(Type.Unknown({ description: "For `static`: the value for every user" })),
});

const content = {
  displayName: Type.Optional(Type.String({ description: "Default: the name" })),
  description: Type.Optional(Type.String()),
  claims: Type.Optional(Type.Array(claimSchema)),
  sensitive: Type.Optional(Type.Boolean({ description: "Highlighted on the consent page" })),
};

export const newScopeSchema = strictObject(
  { name: Type.String({ description: "As clients request it; cannot be changed" }), ...content },
  { title: "NewScope" },
);
/** A full replacement: an omitted member returns to its default. */
export const changedScopeSchema = strictObject(
  { name: Type.Optional(Type.String()), ...content },
  { title: "ChangedScope" },
);

/** Ignored in request bodies. */
export const readOnlyMembers = ["id", "createdAt"] as const;

export const scopeSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    name: Type.String(),
    displayName: Type.String(),
    description: Type.String(),
    claims: Type.Array(claimSchema),
    sensitive: Type.Boolean(),
    createdAt: Type.String({ format: "date-time" }),
  },
  { title: "Scope" },
);

export const scopeRecord = (scope: CustomScope) => ({
  id: scope.id,
  name: scope.name,
  displayName: scope.displayName,
  description: scope.description,
  claims: scope.claims,
  sensitive: scope.sensitive,
  createdAt: wireTime(scope.createdAt),
});

/** @throws ApiError 422 */
export function scopeContent(
  name: string,
  { displayName = name, description = "", claims = [], sensitive = false }: Static<typeof changedScopeSchema>,
): ScopeContent {
  const faults: MemberFault[] = [];
  const read = claims.map((claim, index): ScopeClaim => {
    const { source, path, value } = claim;
    const [wanted, other] = source === "static" ? (["value", "path"] as const) : (["path", "value"] as const);
    if (claim[wanted] === undefined)
      faults.push({
        path: `/claims/${index}/${wanted}`,
        message: `is required when the source is ${source}`,
      });
    if (claim[other] !== undefined)
      faults.push({
        path: `/claims/${index}/${other}`,
        message: `is not allowed when the source is ${source}`,
      });
    if (source === "static") return { name: claim.name, source, value };
    return { name: claim.name, source, path: path ?? "" };
  });
  if (faults.length > 0) throw invalid(faults);
  return { displayName, description, claims: read, sensitive };
}
