/** `signet org apply`: makes an organisation what a file says, after showing what that means. */
import { createReadStream } from "node:fs";
import { usesSecrets } from "../../core/applications/application.ts";
import { isActive } from "../../core/applications/client-secrets.ts";
import { applyFile } from "../../core/configuration/apply.ts";
import { differenceOf } from "../../core/configuration/difference.ts";
import { countsOf, entriesOf } from "../../core/configuration/entries.ts";
import {
  InvalidFile,
  MOST_BYTES,
  type OrganisationFile,
} from "../../core/configuration/organisation-file.ts";
import { type OrganisationState, readState } from "../../core/configuration/state.ts";
import { readOrganisationFile } from "../../core/configuration/validation.ts";
import type { Service } from "../../modules/open-service.ts";
import { answer, plain } from "../answer.ts";
import { type Call, type Command, jsonOption, orgOption, requiredText, UsageError } from "../command.ts";
import { reasonOf } from "../reason.ts";
import { OPERATOR, organisationOf, withService } from "../with-service.ts";
import { differenceLines } from "./org-difference.ts";

export const orgApply: Command = {
  name: "org apply",
  summary: "make an organisation what a file of `org export` says; shows the difference first",
  usage: "--org ID --file FILE [--dry-run] [--yes] [--prune] [--json]",
  options: {
    ...orgOption,
    file: { type: "string", value: "FILE", help: "the file, or - for what is piped in", required: true },
    "dry-run": { type: "boolean", help: "show the difference and change nothing" },
    yes: { type: "boolean", help: "do not ask before changing anything" },
    prune: {
      type: "boolean",
      help: "remove what the file does not name, in the parts that it has; without it that is left alone",
    },
    ...jsonOption,
  },
  examples: [
    "signet org apply --org 01998d6e-… --file acme.json --dry-run",
    "signet org export --org 01998d6e-… | signet org apply --org 01998d70-… --file - --yes",
  ],
  run: async (call) => {
    const { values } = call;
    if (values.json && !values["dry-run"] && !values.yes)
      throw new UsageError("--json cannot ask: add --dry-run or --yes");
    const name = requiredText(values, "file");
    try {
      const file = readOrganisationFile(await readBounded(name));
      return await withService(call, (service) => apply(call, service, file));
    } catch (error) {
      throw error instanceof InvalidFile ? new Error(faultText(name, error)) : error;
    }
  },
};

async function apply(call: Call, service: Service, file: OrganisationFile): Promise<number> {
  const { io, values } = call;
  const organisation = await organisationOf(service, values);
  const orgId = organisation.id;
  const prune = values.prune === true;
  const state = await stateOf(service, orgId);
  const shown = entriesOf(differenceOf(state, file, prune));
  const counts = countsOf(shown);
  const upToDate = counts.created + counts.changed + counts.removed === 0;
  if (!values.json) for (const line of differenceLines(organisation, shown)) io.print(line);
  const agreed = !upToDate && !values["dry-run"] && (await isAgreed(call));
  if (agreed) await applyFile(service, { orgId, file, prune, shown, actor: OPERATOR });
  const secretless = agreed || upToDate ? await withoutSecret(service, orgId, file) : [];
  const done = { organisation: orgId, upToDate, applied: agreed, ...counts };
  const told = shown.filter(({ act }) => act !== "unchanged");
  answer(call, { ...done, records: told, withoutSecret: secretless }, () => [
    outcome(values["dry-run"] === true, { upToDate, agreed }),
    ...secretLines(secretless),
  ]);
  // Who said no has it their way.
  return 0;
}

function outcome(dryRun: boolean, { upToDate, agreed }: { upToDate: boolean; agreed: boolean }): string {
  if (upToDate) return "Nothing to do.";
  if (agreed) return "Applied.";
  return dryRun ? "Nothing was changed (--dry-run)." : "Nothing was changed.";
}

async function isAgreed({ io, values }: Call): Promise<boolean> {
  if (values.yes) return true;
  const typed = await io.confirm("Apply this?");
  if (typed === undefined)
    throw new UsageError("there is no terminal to ask at: look with --dry-run, then add --yes");
  return typed;
}

async function stateOf({ database }: Service, orgId: string): Promise<OrganisationState> {
  const state = await database.transaction((tx) => readState(tx, orgId));
  if (!state) throw new Error("the organisation is gone");
  return state;
}

interface Secretless {
  readonly clientId: string;
  readonly name: string;
  readonly command: string;
}

/** The file's applications that need a secret and have none: a file never holds one. */
async function withoutSecret(service: Service, orgId: string, file: OrganisationFile): Promise<Secretless[]> {
  const state = await stateOf(service, orgId);
  const now = service.clock();
  const named = differenceOf(state, file, false).applications.filter(({ step }) => "wanted" in step);
  return named.flatMap(({ step }) => {
    if (!("current" in step)) return [];
    const { application } = step.current;
    const { id, name, secrets } = application;
    if (!usesSecrets(application) || secrets.some((secret) => isActive(secret, now))) return [];
    return [{ clientId: id, name, command: `signet secret create --org ${orgId} --app ${id}` }];
  });
}

function secretLines(secretless: readonly Secretless[]): string[] {
  if (secretless.length === 0) return [];
  const width = Math.max(...secretless.map(({ command }) => command.length));
  return [
    "",
    "Without a secret so far; each of these shows one, once:",
    ...secretless.map(({ command, name }) => plain(`  ${command.padEnd(width)}  # ${name}`)),
  ];
}

const MOST_TOLD = 100;

function faultText(name: string, { faults }: InvalidFile): string {
  const told = faults.slice(0, MOST_TOLD).map(({ path, message }) => plain(`${path || "/"}: ${message}`));
  const more = faults.length - told.length;
  return [
    `${name} has ${faults.length === 1 ? "a fault" : `${faults.length} faults`}, and nothing was changed:`,
    ...told,
    ...(more > 0 ? [`and ${more} more`] : []),
  ].join("\n  ");
}

/** A little more than may be, so that too much is noticed; a pipe has no size to look at. */
async function readBounded(name: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of name === "-" ? process.stdin : createReadStream(name)) {
      pieces.push(piece as Uint8Array);
      size += (piece as Uint8Array).length;
      if (size > MOST_BYTES) break;
    }
  } catch (error) {
    throw new Error(`--file ${name}: ${reasonOf(error)}`);
  }
  return Buffer.concat(pieces);
}
