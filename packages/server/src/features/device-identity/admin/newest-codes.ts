/** The newest codes of the page of devices, with the names in them. */
import type { EnrolmentCode } from "../../../core/devices/device.ts";
import { findDevice } from "../../../core/devices/devices.store.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { splitPage } from "../../../page-kit/list-page.ts";
import type { Visit } from "../../../page-kit/page.ts";
import { listUsableCodes } from "../enrol/enrolment-code.store.ts";
import type { ListedCode, ManageView } from "./manage.page.ts";
import type { ManageDeps } from "./page-and-api.ts";

const CODES_ON_A_PAGE = 10;

export async function newestCodes(
  deps: ManageDeps,
  { organisation }: Visit,
): Promise<Pick<ManageView, "codes" | "hasMoreCodes">> {
  const page = { now: deps.clock(), limit: CODES_ON_A_PAGE + 1 };
  const rows = await listUsableCodes(deps.database.query, organisation.id, page);
  const { shown, last } = splitPage(rows, CODES_ON_A_PAGE);
  return {
    codes: await Promise.all(shown.map((code) => withNames(deps, code))),
    hasMoreCodes: last !== undefined,
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
