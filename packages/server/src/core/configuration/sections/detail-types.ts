/** Types of authorization details of a file, by type. */
import { listDetailTypes } from "../../authorization-details/detail-types.store.ts";
import {
  changeDetailType,
  createDetailType,
  type DetailTypeContent,
  deleteDetailType,
  requireValidDetailType,
} from "../../authorization-details/detail-types.ts";
import { type FileRecord, type Section, textOf, toFileRecord } from "./section.ts";

type Wanted = DetailTypeContent & { readonly type: string };

const contentOf = (record: FileRecord): Wanted => ({ resource: null, ...record }) as unknown as Wanted;

export const detailTypeSection: Section = {
  kind: "authorization-detail-type",
  isUnique: true,
  references: [],
  defaults: { enabled: true },
  keyOf: (record) => textOf(record, "type"),
  nameOf: (record) => textOf(record, "type"),
  normalise: (item) =>
    toFileRecord({
      ...{ enabled: true, ...item },
      ...{ displayName: textOf(item, "displayName").trim(), template: textOf(item, "template").trim() },
    }),
  check: (record) => requireValidDetailType(contentOf(record)),
  read: async (db, orgId) =>
    (await listDetailTypes(db, orgId)).map(
      ({ id, type, displayName, template, schema, resource, enabled }) => ({
        id,
        record: toFileRecord({ type, displayName, template, schema, resource, enabled }),
      }),
    ),
  create: (deps, act, record) => createDetailType(deps, { ...act, ...contentOf(record) }),
  change: (deps, act, id, record) => {
    const { type: _, ...content } = contentOf(record);
    return changeDetailType(deps, { ...act, id, content });
  },
  remove: (deps, act, id) => deleteDetailType(deps, { ...act, id }),
};
