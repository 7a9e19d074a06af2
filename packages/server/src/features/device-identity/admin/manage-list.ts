/** The devices and codes of the list page, as its query asks for them. */
import { isUuid } from "@signet/protocol/hash";
import { findDevice } from "../../../core/devices/devices.store.ts";
import { findUser } from "../../../core/users/users.store.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { findLastChanges } from "../../../page-kit/actor-names.ts";
import { queryString, type Visit } from "../../../page-kit/page.ts";
import { listUsableCodes } from "../enrol/enrolment-code.store.ts";
import { deviceStates, listDevices } from "./device-list.store.ts";
import type { ManagedDevice, ManageView } from "./manage.page.ts";
import { type ManageDeps, managePath } from "./manage-visit.ts";
import type { CodeAuthor, OpenCodes } from "./open-codes.ts";

type Values = ReadonlyMap<string, string>;

const DEVICES_ON_A_PAGE = 25;
const CODES_ON_A_PAGE = 10;

export const readSearch = (values: Values): ManageView["search"] => ({
  text: (values.get("search") ?? "").trim().slice(0, 100),
  state: deviceStates.find((state) => state === values.get("state")),
});

/** The query of the list, to return to it. */
export const searchQuery = (values: Values): Record<string, string | undefined> => ({
  search: values.get("search"),
  state: values.get("state"),
  cursor: values.get("cursor"),
  codes: values.get("codes"),
});

/** The last id of the previous page; undefined for the first page or an invalid cursor. */
function decodeCursor(cursor: string | undefined): string | undefined {
  const id = Buffer.from(cursor ?? "", "base64url").toString();
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
  const asked = { after, limit: DEVICES_ON_A_PAGE + 1, text: text === "" ? undefined : text, state };
  const rows = await listDevices(deps.database.query, organisation.id, asked, deps.clock());
  const shown = rows.slice(0, DEVICES_ON_A_PAGE);
  const last = rows.length > shown.length ? shown.at(-1) : undefined;
  const at = (cursor?: string) => managePath(organisation, queryString({ search: text, state, cursor }));
  const ids = shown.map(({ id }) => id);
  const changes = await findLastChanges(deps, organisation.id, ids, messages);
  return {
    devices: shown.map(
      (device): ManagedDevice => ({
        id: device.id,
        name: device.name,
        state: device.state,
        isAttested: device.attestation === "tpm",
        enrolledAt: device.enrolledAt,
        revokedAt: device.revokedAt,
        certificateUntil: device.certificate?.notAfter ?? null,
        lastSeenAt: device.lastSeenAt,
        lastChange: changes.get(device.id),
        revokeUri: managePath(organisation, `/${device.id}/revoke`),
        replaceUri: `${managePath(organisation, queryString({ replaces: device.id }))}#register`,
      }),
    ),
    ...(after === undefined ? {} : { newestUri: at() }),
    ...(last ? { olderUri: at(encodeCursor(last.id)) } : {}),
  };
}

export async function listOpenCodes(
  deps: ManageDeps,
  { organisation }: Visit,
  values: Values,
): Promise<OpenCodes> {
  const after = decodeCursor(values.get("codes"));
  const page = { now: deps.clock(), limit: CODES_ON_A_PAGE + 1, ...(after === undefined ? {} : { after }) };
  const rows = await listUsableCodes(deps.database.query, organisation.id, page);
  const shown = rows.slice(0, CODES_ON_A_PAGE);
  const last = rows.length > shown.length ? shown.at(-1) : undefined;
  const codes = shown.map(async (code) => ({
    id: code.id,
    name: code.name,
    attestation: code.attestation,
    replaces: code.replaces === null ? undefined : await findDeviceName(deps, organisation.id, code.replaces),
    createdAt: code.createdAt,
    expiresAt: code.expiresAt,
    createdBy: await findCodeAuthor(deps, organisation.id, code.createdBy),
    withdrawUri: managePath(organisation, `/codes/${code.id}/withdraw`),
  }));
  const more = last && managePath(organisation, queryString({ codes: encodeCursor(last.id) }));
  return { codes: await Promise.all(codes), ...(more ? { olderUri: `${more}#codes` } : {}) };
}

async function findDeviceName({ database }: ManageDeps, orgId: string, id: string): Promise<string> {
  return (await findDevice(database.query, orgId, id))?.name ?? id;
}

/** @param actor as in the audit log: `user:…`, `system-account:…`, or an operator's command */
async function findCodeAuthor({ database }: ManageDeps, orgId: string, actor: string): Promise<CodeAuthor> {
  const [kind, id = ""] = actor.split(":");
  if (kind === "system-account") return "program";
  if (kind !== "user") return "operator";
  const user = await findUser(database.query, orgId, id);
  return user ? { email: user.email } : "formerUser";
}
