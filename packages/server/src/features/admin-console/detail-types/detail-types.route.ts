/** Types of authorization details (RFC 9396) of an organisation, and the page of one. */
import type { FastifyInstance } from "fastify";
import type { DetailSchema, DetailType } from "../../../core/authorization-details/detail-type.ts";
import {
  findDetailType,
  listDetailTypes,
  lockDetailType,
} from "../../../core/authorization-details/detail-types.store.ts";
import {
  changeDetailType,
  createDetailType,
  DetailTypeConflict,
  type DetailTypeContent,
  deleteDetailType,
  InvalidDetailType,
} from "../../../core/authorization-details/detail-types.ts";
import { html } from "../../../html/html.ts";
import { readableJson } from "../../../html/json.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { listRoute } from "../../../page-kit/list/list-route.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { recordPages } from "../../../page-kit/record-pages.ts";
import { yesOrNo } from "../plain-records/fields.ts";
import { plainList } from "../plain-records/plain-list.ts";
import type { PlainRecord } from "../plain-records/plain-record.ts";
import { plainRecordRoutes } from "../plain-records/plain-record-routes.ts";
import {
  type DetailTypeInput,
  detailTypeFields,
  detailTypeGeneral,
  detailTypeLabels,
} from "./detail-type.page.ts";

export function detailTypesRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  listRoute(app, deps, "/oauth/manage/:org/authorization-detail-types", detailTypeList);
  plainRecordRoutes(app, deps, detailTypeRecord, {
    create: "/oauth/manage/:org/authorization-detail-types/new",
    general: "/oauth/manage/:org/authorization-detail-types/:id",
    settings: "/oauth/manage/:org/authorization-detail-types/:id/settings",
    activity: "/oauth/manage/:org/authorization-detail-types/:id/activity",
    delete: "/oauth/manage/:org/authorization-detail-types/:id/delete",
  });
}

const pages = recordPages<DetailType>(
  "authorizationDetailTypes",
  "/authorization-detail-types",
  findDetailType,
  ({ displayName }) => displayName,
);

type Wanted = DetailTypeContent & Pick<DetailType, "type">;

/** What a page takes in: the rules say what of it is right. */
const MAX_TEXT = 20_000;

const detailTypeRecord: PlainRecord<ConsoleDeps, DetailType, DetailTypeInput, Wanted, undefined> = {
  ...{ pages, path: "/authorization-detail-types", noun: "detail-type", icon: "braces" },
  texts: ({ console }) => console.authorizationDetailTypes,
  nameOf: ({ displayName }) => displayName,
  facts: ({ type }) => [html`<code>${type}</code>`],
  labels: detailTypeLabels,
  choices: async () => undefined,
  empty: () => ({
    ...{ type: "", displayName: "", template: "", resource: "", enabled: true },
    schema: readableJson({ type: "object", properties: {} }),
  }),
  toInput: ({ type, displayName, template, resource, enabled, schema }) => ({
    ...{ type, displayName, template, enabled },
    ...{ resource: resource ?? "", schema: readableJson(schema) },
  }),
  readInput: ({ values }, before) => {
    const text = (id: string, max: number) => (values.get(id) ?? "").trim().slice(0, max);
    return {
      // Applications and grants refer to it: it stays.
      type: before?.type ?? text("type", 300),
      ...{ displayName: text("displayName", 200), template: text("template", 600) },
      ...{ schema: text("schema", MAX_TEXT).replaceAll("\r\n", "\n"), resource: text("resource", 2_100) },
      enabled: values.get("enabled") === "on",
    };
  },
  toDisplay: ({ enabled, ...texts }, messages) => ({ ...texts, enabled: yesOrNo(enabled, messages) }),
  fields: detailTypeFields,
  validate: ({ schema: text, resource, ...input }, { console }) => {
    const schema = readSchema(text);
    if (!schema) return { faults: { schema: console.authorizationDetailTypes.faults.schema } };
    return { content: { ...input, schema, resource: resource === "" ? null : resource } };
  },
  lock: (tx, { orgId, id }) => lockDetailType(tx, { orgId, id }),
  create: (inside, acting, settings) => createDetailType(inside, { ...acting, ...settings }),
  change: (inside, acting, { id }, { type: _, ...content }) =>
    changeDetailType(inside, { ...acting, id, content }),
  remove: (inside, acting, { id }) => deleteDetailType(inside, { ...acting, id }),
  faults: detailTypeFaults,
  general: (_, view) => detailTypeGeneral(view),
};

function readSchema(text: string): DetailSchema | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as DetailSchema)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Of a schema, where the fault is and what it is: the rules' words, for whoever writes one reads them. */
function detailTypeFaults(error: unknown, { console }: Messages): Record<string, string> {
  const { faults: texts } = console.authorizationDetailTypes;
  if (error instanceof DetailTypeConflict && error.code === "type-taken") return { type: texts.taken };
  if (!(error instanceof InvalidDetailType)) throw error;
  return Object.fromEntries(
    error.faults.toReversed().map(({ path, message, code }) => {
      if (code === "too-many") return ["type", texts["too-many"]];
      if (code === "name") return ["displayName", texts.name];
      return [code, code === "schema" ? texts.schemaAt({ field: path, text: message }) : texts[code]];
    }),
  );
}

const detailTypeList = plainList(detailTypeRecord, {
  load: ({ deps, organisation }) => listDetailTypes(deps.database.query, organisation.id),
  words: ({ displayName, type, resource }) => [displayName, type, resource ?? ""],
  note: ({ type }) => html`<code>${type}</code>`,
  columns: [
    {
      label: ({ console }) => console.authorizationDetailTypes.fields.template.label,
      cell: ({ template }) => template,
    },
  ],
});
