/** `signet org apply`: applies a configuration file to an organisation, after showing the difference. */
import { usesSecrets } from "../../core/applications/application.ts";
import { isActive } from "../../core/applications/client-secrets.ts";
import { applyFile } from "../../core/configuration/apply.ts";
import { type Difference, differenceOf } from "../../core/configuration/difference.ts";
import { countsOf } from "../../core/configuration/entries.ts";
import { InvalidFile, type OrganisationFile } from "../../core/configuration/organisation-file.ts";
import { rehearseFile } from "../../core/configuration/rehearse.ts";
import { type OrganisationState, readState } from "../../core/configuration/state.ts";
import { readOrganisationFile } from "../../core/configuration/validation.ts";
import type { Service } from "../../modules/open-service.ts";
import { type Call, type Command, jsonOption, orgOption, requiredText, UsageError } from "../command.ts";
import { escapeControls, printResult } from "../output.ts";
import { OPERATOR, requireOrganisation, withService } from "../with-service.ts";
import { DRIFT, readBounded } from "./configuration-file.ts";
import { differenceLines } from "./org-difference.ts";
import { requireWayIn } from "./way-in.ts";

export const orgApply: Command = {
  name: "org apply",
  summary: "apply a file of `org export` to an organisation; shows the difference and asks first",
  usage: "--org ID --file FILE [--dry-run] [--yes] [--prune] [--json]",
  options: {
    ...orgOption,
    file: { value: "FILE", help: "the file, or - for standard input", required: true },
    "dry-run": { help: "show the difference without applying it; exit code 2 if there is one" },
    yes: { help: "apply without asking" },
    prune: {
      help: "remove records missing from the file, in the sections it has (default: leave them alone)",
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
      throw new UsageError("--json can't ask for confirmation: add --dry-run or --yes");
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
  const organisation = await requireOrganisation(service, values);
  const orgId = organisation.id;
  const prune = values.prune === true;
  const check = ({ organisation: { settings, changes } }: Difference) => {
    if (changes.some(({ member }) => member === "policies.signInMethods"))
      requireWayIn(service, settings.signInMethods, "policies.signInMethods");
  };
  const deps = { ...service, baseUrl: service.config.baseUrl };
  const applying = { orgId, file, prune, check, actor: OPERATOR };
  const shown = await rehearseFile(deps, applying);
  const counts = countsOf(shown);
  const upToDate = counts.created + counts.changed + counts.removed === 0;
  if (!values.json) for (const line of differenceLines(organisation, shown)) io.print(line);
  const agreed = !upToDate && !values["dry-run"] && (await confirmApply(call));
  if (agreed) await applyFile(deps, { ...applying, shown });
  const missingSecrets = agreed || upToDate ? await findMissingSecrets(service, orgId, file) : [];
  const done = { organisation: orgId, upToDate, applied: agreed, ...counts };
  const records = shown.filter(({ act }) => act !== "unchanged");
  const code = printResult(call, { ...done, records, withoutSecret: missingSecrets }, () => [
    outcome(values["dry-run"] === true, { upToDate, agreed }),
    ...missingSecretLines(missingSecrets),
  ]);
  return values["dry-run"] === true && !upToDate ? DRIFT : code;
}

function outcome(dryRun: boolean, { upToDate, agreed }: { upToDate: boolean; agreed: boolean }): string {
  if (upToDate) return "Already up to date.";
  if (agreed) return "Applied.";
  return dryRun ? "Nothing was changed (--dry-run)." : "Nothing was changed.";
}

async function confirmApply({ io, values }: Call): Promise<boolean> {
  if (values.yes) return true;
  const confirmed = await io.confirm("Apply these changes?");
  if (confirmed === undefined)
    throw new UsageError("no terminal to confirm on: review with --dry-run, then add --yes");
  return confirmed;
}

async function stateOf({ database }: Service, orgId: string): Promise<OrganisationState> {
  const state = await database.transaction((tx) => readState(tx, orgId));
  if (!state) throw new Error("the organisation no longer exists");
  return state;
}

interface MissingSecret {
  readonly clientId: string;
  readonly name: string;
  readonly command: string;
}

/** Applications of the file that need a client secret and have none: files never contain secrets. */
async function findMissingSecrets(
  service: Service,
  orgId: string,
  file: OrganisationFile,
): Promise<MissingSecret[]> {
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

function missingSecretLines(missingSecrets: readonly MissingSecret[]): string[] {
  if (missingSecrets.length === 0) return [];
  const width = Math.max(...missingSecrets.map(({ command }) => command.length));
  return [
    "",
    "Applications without a client secret. To create one, shown once:",
    ...missingSecrets.map(({ command, name }) => escapeControls(`  ${command.padEnd(width)}  # ${name}`)),
  ];
}

const MAX_ERRORS_SHOWN = 100;

function faultText(name: string, { faults }: InvalidFile): string {
  const lines = faults
    .slice(0, MAX_ERRORS_SHOWN)
    .map(({ path, message }) => escapeControls(`${path || "/"}: ${message}`));
  const more = faults.length - lines.length;
  return [
    `${name} has ${faults.length === 1 ? "1 error" : `${faults.length} errors`}; nothing was changed:`,
    ...lines,
    ...(more > 0 ? [`and ${more} more`] : []),
  ].join("\n  ");
}
