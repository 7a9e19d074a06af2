/** A group as API v1 shows it, and what the refusals of core/groups mean on the wire. */
import Type from "typebox";
import { type Group, GroupConflict, groupSources, InvalidGroup } from "../../../core/groups/group.ts";
import { findGroup } from "../../../core/groups/groups.store.ts";
import { ApiError, conflict, invalid } from "../../../http/api/api-error.ts";
import { stale } from "../../../http/api/concurrency.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { wireTime } from "../../../http/api/times.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { patchSchema } from "../frame/patch-schema.ts";

const textOrNull = (description: string) => Type.Union([Type.String({ description }), Type.Null()]);

export const groupSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    displayName: Type.String({ description: "Unique among the groups of its source, whatever the case" }),
    description: textOrNull("What it is for"),
    externalId: textOrNull("As another system names it"),
    source: Type.Enum([...groupSources], {
      description: "Only a `local` group can be renamed, filled or deleted here",
    }),
    connectionId: Type.Union([Type.String({ format: "uuid" }), Type.Null()]),
    memberCount: Type.Integer({ description: "Direct members: users, guests and groups" }),
    createdAt: Type.String({ format: "date-time" }),
    updatedAt: Type.String({ format: "date-time" }),
  },
  { title: "ApiGroup" },
);

const members = {
  displayName: Type.String({ description: "1 to 200 characters" }),
  description: Type.String({ description: "At most 500 characters" }),
  externalId: Type.String({ description: "At most 200 characters" }),
};

export const newGroup = strictObject(
  {
    displayName: members.displayName,
    description: Type.Optional(members.description),
    externalId: Type.Optional(members.externalId),
  },
  { title: "NewApiGroup" },
);

export const groupPatch = patchSchema(members, { title: "ApiGroupPatch" });

export type ShownGroup = Group & { readonly memberCount?: number };

export async function groupRecord(group: ShownGroup, { database }: ApiDeps) {
  const { id, displayName, description, externalId, source, connectionId, createdAt, updatedAt } = group;
  const memberCount = group.memberCount ?? (await findGroup(database.query, group))?.memberCount ?? 0;
  return {
    ...{ id, displayName, description, externalId, source, connectionId, memberCount },
    createdAt: wireTime(createdAt),
    updatedAt: wireTime(updatedAt),
  };
}

/** @throws ApiError */
export function toGroupAnswer(error: unknown): never {
  if (error instanceof InvalidGroup) throw invalid(error.faults);
  if (!(error instanceof GroupConflict)) throw error;
  const { code } = error;
  if (code === "changed-meanwhile") throw stale();
  if (code === "name-taken") throw conflict("The organisation has a group with this name.");
  const title = {
    "read-only-source": "The group is changed by its connection only",
    "group-cycle": "A group cannot be inside itself",
    "group-depth": "Too many groups in a chain",
  }[code];
  throw new ApiError(409, code, title, { detail: error.message });
}
