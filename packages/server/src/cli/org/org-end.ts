/** `signet org suspend|resume|delete`: how an organisation is taken out of use, and how it ends. */
import { setTimeout } from "node:timers/promises";
import { hasUnsent, isStreamInUse } from "../../core/audit/stream/stream.store.ts";
import { beginDeletion, scheduleDeletion, undoDeletion } from "../../core/organisations/deletion/deletion.ts";
import { removeOrganisation } from "../../core/organisations/deletion/finish-deletions.ts";
import { openAuditLog } from "../../core/organisations/deletion/keep-log.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import { findOrganisation } from "../../core/organisations/organisations.store.ts";
import { setOrganisationStatus } from "../../core/organisations/organisations.ts";
import type { Service } from "../../modules/open-service.ts";
import { type Call, type Command, jsonOption, optionalText, UsageError } from "../command.ts";
import { errorMessage, formatTime, printResult } from "../output.ts";
import { OPERATOR, requireArgument, requireOrganisation } from "../with-service.ts";
import { orgRecord } from "./org-record.ts";

const LAST_EVENTS_MS = 1_000;
/** For the audit stream, which is a second behind unless its receiver is away. */
const STREAM_MS = 3_000;
const STREAM_PAUSE_MS = 100;

export const orgEndCommands: readonly Command[] = [
  {
    name: "org suspend",
    summary:
      "suspend an organisation: its issuer is gone (404) and its tokens are inactive; nothing is deleted",
    usage: "ID [--json]",
    positionals: 1,
    options: jsonOption,
    examples: ["signet org suspend 01998d6e-…"],
    runWithService: (service, call) => changeStatus(service, call, true),
  },
  {
    name: "org resume",
    summary: "resume a suspended organisation",
    usage: "ID [--json]",
    positionals: 1,
    options: jsonOption,
    examples: ["signet org resume 01998d6e-…"],
    runWithService: (service, call) => changeStatus(service, call, false),
  },
  {
    name: "org delete",
    summary: "suspend an organisation, and delete everything of it in 30 days; --undo until then",
    usage: "ID [--yes] [--undo | --at-once --audit-out FILE] [--json]",
    positionals: 1,
    options: {
      yes: { help: "do so without asking" },
      undo: { help: "don't delete it after all; it is as it was before" },
      "at-once": { help: "don't wait 30 days: delete everything now, for good" },
      "audit-out": { value: "FILE", help: "new file for its audit log, with --at-once; JSON lines" },
      ...jsonOption,
    },
    examples: [
      "signet org delete 01998d6e-…",
      "signet org delete 01998d6e-… --undo",
      "signet org delete 01998d6e-… --yes --at-once --audit-out acme-audit.jsonl",
    ],
    runWithService: remove,
  },
];

/** Of `org suspend` and `org resume`, and of `org disable`, their older name. */
export async function changeStatus(service: Service, call: Call, disabled: boolean): Promise<number> {
  const { id, name } = await named(service, call);
  if (!(await setOrganisationStatus(service, { orgId: id, disabled, actor: OPERATOR })))
    throw new Error(`"${name}" is to be deleted: signet org delete ${id} --undo brings it back`);
  return printOrganisation(service, call, id, `${disabled ? "Suspended" : "Resumed"} "${name}".`);
}

async function remove(service: Service, call: Call): Promise<number> {
  const { values } = call;
  const auditOut = optionalText(values, "audit-out");
  if ((values["at-once"] === true) !== (auditOut !== undefined))
    throw new UsageError("--at-once and --audit-out FILE go together");
  if (values.undo === true && (values["at-once"] === true || values.yes === true))
    throw new UsageError("--undo goes with neither --yes nor --at-once");
  const organisation = await named(service, call);
  if (values.undo === true) return undo(service, call, organisation);
  await confirmEnd(call, organisation, auditOut !== undefined);
  if (auditOut !== undefined) return deleteAtOnce(service, call, organisation, auditOut);
  const { id, name } = organisation;
  const deleteAfter = await scheduleDeletion(service, { orgId: id, actor: OPERATOR });
  if (deleteAfter === undefined) throw new Error(`"${name}" is already to be deleted`);
  return printOrganisation(
    service,
    call,
    id,
    `"${name}" is suspended, and is deleted after ${formatTime(deleteAfter)}. Until then: signet org delete ${id} --undo`,
  );
}

async function undo(service: Service, call: Call, { id, name }: Organisation): Promise<number> {
  if (!(await undoDeletion(service, { orgId: id, actor: OPERATOR })))
    throw new Error(`"${name}" is not to be deleted, or its deletion has already begun`);
  return printOrganisation(service, call, id, `"${name}" is not deleted, and is as it was before.`);
}

async function deleteAtOnce(
  service: Service,
  call: Call,
  organisation: Organisation,
  file: string,
): Promise<number> {
  const { id, name, auditExportedAt } = organisation;
  // One that was interrupted: what is left of the log would pass for the whole of it.
  const isBegun = auditExportedAt !== null;
  if (!isBegun) await beginAtOnce(service, organisation, file);
  const isUnsent = !isBegun && !(await isSent(service, id));
  await removeOrganisation(service, id);
  return printResult(
    call,
    { id, deleted: true, auditLog: isBegun ? null : file, ...(isUnsent && { streamed: false }) },
    () => [
      isBegun
        ? `Deleted the rest of "${name}". Its audit log was kept when its deletion began.`
        : `Deleted "${name}" with everything in it. Its audit log is in ${file}.`,
      ...(isUnsent ? ["The audit stream had not sent all of it: the rest is in that file alone."] : []),
    ],
  );
}

/** Servers send what they have within a second or two: what is deleted can't be sent any more. */
async function isSent({ database: { query }, clock }: Service, orgId: string): Promise<boolean> {
  if (!(await isStreamInUse(query, clock()))) return true;
  for (let waited = 0; waited < STREAM_MS; waited += STREAM_PAUSE_MS) {
    if (!(await hasUnsent(query, orgId))) return true;
    await setTimeout(STREAM_PAUSE_MS);
  }
  return !(await hasUnsent(query, orgId));
}

/** @throws when the log can't be written, or somebody has decided otherwise meanwhile: then nothing is deleted */
async function beginAtOnce(
  service: Service,
  { id, name, disabledAt }: Organisation,
  file: string,
): Promise<void> {
  // Before anything changes: a file that is there, or a folder that is not, stops it.
  const log = await openAuditLog(file);
  const writeLog = async () => {
    // For every server to hear of it and to finish what is in progress: what it says then belongs in the log.
    if (disabledAt === null) await setTimeout(LAST_EVENTS_MS);
    await log.write(service.database.query, id);
  };
  try {
    if (!(await beginDeletion(service, { orgId: id, actor: OPERATOR }, writeLog)))
      throw new Error(`the deletion of "${name}" was undone meanwhile, or another one has begun it`);
  } catch (error) {
    await log.drop();
    const now = await findOrganisation(service.database.query, id);
    if (!now?.deleteAfter) throw error;
    throw new Error(
      `${errorMessage(error)}. "${name}" is suspended, and is deleted after ${formatTime(now.deleteAfter)}; signet org delete ${id} --undo brings it back`,
      { cause: error },
    );
  }
}

/** @throws Error when it is not to be */
export async function confirmEnd(
  { io, values }: Pick<Call, "io" | "values">,
  { name }: Pick<Organisation, "name">,
  atOnce: boolean,
): Promise<void> {
  if (values.yes === true) return;
  const when = atOnce ? "now, for good" : "in 30 days";
  const answer = await io.confirm(`Suspend "${name}" and delete everything of it ${when}?`);
  if (answer === undefined) throw new UsageError("no terminal to confirm on: add --yes");
  if (!answer) throw new Error("nothing was changed");
}

const named = (service: Service, call: Call): Promise<Organisation> =>
  requireOrganisation(service, call.values, requireArgument(call, "the ID of the organisation"));

async function printOrganisation(service: Service, call: Call, id: string, line: string): Promise<number> {
  const changed = await findOrganisation(service.database.query, id);
  return printResult(call, changed && orgRecord(changed, call.config.baseUrl), () => [line]);
}
