/** A role and an assignment as API v1 shows them, and what the refusals of core/roles mean on the wire. */
import Type from "typebox";
import { type Assignment, subjectTypes } from "../../../core/roles/assignments.store.ts";
import { InvalidRole, type Role, RoleConflict } from "../../../core/roles/role.ts";
import { ApiError, conflict, invalid } from "../../../http/api/api-error.ts";
import { stale } from "../../../http/api/concurrency.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { wireTime } from "../../../http/api/times.ts";
import { patchSchema } from "../frame/patch-schema.ts";

const idOrNull = (description: string) =>
  Type.Union([Type.String({ format: "uuid", description }), Type.Null()]);
const time = () => Type.String({ format: "date-time" });

export const roleSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    applicationId: idOrNull("null: the organisation's own"),
    key: Type.String({ description: "As tokens tell it; unique in the application" }),
    name: Type.String(),
    description: Type.Union([Type.String(), Type.Null()]),
    permissions: Type.Array(Type.String({ description: "`resource:action`" })),
    builtIn: Type.Boolean({ description: "Given by a user's `role`, and fixed" }),
    createdAt: time(),
    updatedAt: time(),
  },
  { title: "ApiRole" },
);

const content = {
  name: Type.String({ description: "1 to 100 characters; default: the key" }),
  description: Type.String({ description: "At most 500 characters" }),
  permissions: Type.Array(Type.String(), {
    description: "`resource:action`, each part 1 to 64 of `a-z 0-9 . _ -`; 1,000 at most",
  }),
};

export const newRole = strictObject(
  {
    applicationId: Type.Optional(
      Type.String({ format: "uuid", description: "Left out: the organisation's own; cannot be changed" }),
    ),
    key: Type.String({ description: "1 to 64 of `a-z 0-9 : . _ -`; cannot be changed" }),
    ...Type.Partial(Type.Object(content)).properties,
  },
  { title: "NewApiRole" },
);

export const rolePatch = patchSchema(content, { title: "ApiRolePatch" });

export const roleRecord = ({
  id,
  applicationId,
  key,
  name,
  description,
  permissions,
  builtIn,
  createdAt,
  updatedAt,
}: Role) => ({
  ...{ id, applicationId, key, name, description, permissions, builtIn },
  createdAt: wireTime(createdAt),
  updatedAt: wireTime(updatedAt),
});

export const subjectType = (description: string) => Type.Enum([...subjectTypes], { description });

export const assignmentSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    roleId: Type.String({ format: "uuid" }),
    roleKey: Type.String(),
    applicationId: idOrNull("The role's; null: the organisation's own"),
    subjectType: subjectType("`application`: acting on its own behalf"),
    subjectId: Type.String({ format: "uuid" }),
    createdBy: Type.String({ description: "Who assigned, as the audit log names actors" }),
    createdAt: time(),
    updatedAt: time(),
  },
  { title: "ApiAssignment" },
);

export const newAssignment = strictObject(
  {
    roleId: Type.Optional(Type.String({ format: "uuid" })),
    applicationId: Type.Optional(
      Type.String({ format: "uuid", description: "With `roleKey`, instead of `roleId`" }),
    ),
    roleKey: Type.Optional(Type.String({ description: "Must agree with `roleId` when both are there" })),
    subjectType: subjectType("`application`: acting on its own behalf"),
    subjectId: Type.String({ format: "uuid" }),
  },
  { title: "NewApiAssignment" },
);

export const assignmentRecord = ({
  id,
  roleId,
  roleKey,
  applicationId,
  subjectType: type,
  subjectId,
  createdBy,
  createdAt,
}: Assignment) => ({
  ...{ id, roleId, roleKey, applicationId, subjectType: type, subjectId, createdBy },
  createdAt: wireTime(createdAt),
  updatedAt: wireTime(createdAt),
});

/** @throws ApiError */
export function toRoleAnswer(error: unknown): never {
  if (error instanceof InvalidRole) throw invalid(error.faults);
  if (!(error instanceof RoleConflict)) throw error;
  const { code } = error;
  if (code === "changed-meanwhile") throw stale();
  if (code === "key-taken") throw conflict("The application has a role with this key.");
  if (code === "already-assigned") throw conflict("The subject has this role already.");
  throw new ApiError(409, code, "A built-in role is given by a user's own role", { detail: error.message });
}
