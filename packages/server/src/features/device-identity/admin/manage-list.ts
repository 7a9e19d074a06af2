/** The devices and codes of the list page, as its query asks for them. */
import { isUuid } from "@signet/protocol/hash";
import type { EnrolmentCode } from "../../../core/devices/device.ts";
import { findDevice } from "../../../core/devices/devices.store.ts";
import { findUser } from "../../../core/users/users.store.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { findLastChanges } from "../../../page-kit/actor-names.ts";
import { ROWS_PER_PAGE, splitPage } from "../../../page-kit/list-page.ts";
import { queryString, type Visit } from "../../../page-kit/page.ts";
import { listUsableCodes } from "../enrol/enrolment-code.store.ts";
import { deviceStates, listDevices } from "./device-list.store.ts";
import type { ListedCode, ManageView } from "./manage.page.ts";
import { type ManageDeps, managePath } from "./page-and-api.ts";

type Values = ReadonlyMap<string, string>;

const CODES_ON_A_PAGE = 10;

export const readSearch = (values: Values): ManageView["search"] => ({
  text: (values.get("search") ?? "").trim().slice(0, 100),
  state: deviceStates.find((state) => state === values.get("state")),
});

/** The query of the list, to return to it. */
export const searchQuery = (values: Values): Record<string, string | undefined> =>
  Object.fromEntries(["search", "state", "cursor", "codes"].map((name) => [name, values.get(name)]));

/** The last id of the previous page; undefined for the first page or an invalid cursor. */
function decodeCursor(cursor = ""): string | undefined {
  const id = Buffer.from(cursor, "base64url").toString();
  return isUuid(id) ? id : undefined;
}

const encodeCursor = (id: string): string => Buffer.from(id).toString("base64url");

export async function listManagedDevices(
  deps: ManageDeps,
  { organisation }: Visit,
  values: Values,
  messages: Messages,
): Promise<Pick<ManageView, "devices" | "newestUri" | "olderUri">> {
  const { text, state } = readSearch(values);
  const after = decodeCursor(values.get("cursor"));
  const search = { after, limit: ROWS_PER_PAGE + 1, text: text === "" ? undefined : text, state };
  const rows = await listDevices(deps.database.query, organisation.id, search, deps.clock());
  const { shown, last } = splitPage(rows);
  const pageUri = (cursor?: string) => managePath(organisation, queryString({ search: text, state, cursor }));
  const ids = shown.map(({ id }) => id);
  const changes = await findLastChanges(deps, organisation.id, ids, messages);
  return {
    devices: shown.map((device) => ({ ...device, lastChange: changes.get(device.id) })),
    newestUri: after === undefined ? undefined : pageUri(),
    olderUri: last && pageUri(encodeCursor(last.id)),
  };
}

export async function listOpenCodes(
  deps: ManageDeps,
  { organisation }: Visit,
  values: Values,
): Promise<Pick<ManageView, "codes" | "olderCodesUri">> {
  const page = { now: deps.clock(), limit: CODES_ON_A_PAGE + 1, after: decodeCursor(values.get("codes")) };
  const rows = await listUsableCodes(deps.database.query, organisation.id, page);
  const { shown, last } = splitPage(rows, CODES_ON_A_PAGE);
  const older = last && managePath(organisation, queryString({ codes: encodeCursor(last.id) }));
  return {
    codes: await Promise.all(shown.map((code) => withNames(deps, code))),
    olderCodesUri: older && `${older}#codes`,
  };
}

async function withNames({ database }: ManageDeps, code: EnrolmentCode): Promise<ListedCode> {
  const { orgId, replaces } = code;
  const replaced = replaces === null ? undefined : await findDevice(database.query, orgId, replaces);
  // As in the audit log: `user:…`, `system-account:…`, or an operator's command.
  const [kind, id = ""] = code.createdBy.split(":");
  const user = kind === "user" ? await findUser(database.query, orgId, id) : undefined;
  return {
    ...code,
    replacedName: replaced?.name ?? replaces ?? undefined,
    author: user ?? (kind === "user" ? "formerUser" : kind === "system-account" ? "program" : "operator"),
  };
}
