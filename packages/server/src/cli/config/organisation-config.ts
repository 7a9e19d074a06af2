/** `signet config export`, `diff`, `apply`: an organisation's configuration as a file, by API v1, for pipelines. */
import { writeFile } from "node:fs/promises";
import type { Entry } from "../../core/configuration/entries.ts";
import {
  type Command,
  type Options,
  optionalText,
  type RecordCall,
  requiredText,
  UsageError,
} from "../command.ts";
import { DRIFT, readBounded } from "../org/configuration-file.ts";
import { differenceLines } from "../org/org-difference.ts";
import { errorMessage, printResult } from "../output.ts";
import type { Wire } from "../remote/api-types.ts";

const fileOptions: Options = {
  file: { value: "FILE", help: "the file, or - for standard input", required: true },
  prune: { help: "remove records missing from the file, in the sections it has (default: leave them alone)" },
};

export const organisationConfigCommands: readonly Command[] = [
  {
    name: "config export",
    summary: "export an organisation's configuration as JSON, without secrets and users",
    usage: "--org ID [--out FILE] [--json]",
    options: { out: { value: "FILE", help: "output file (default: standard output)" } },
    examples: ["signet config export --server https://id.example.com --org 01998d6e-… --out acme.json"],
    runByApi: exportConfiguration,
  },
  {
    name: "config diff",
    summary: "show what applying a file would change; exit code 2 if there is anything",
    usage: "--org ID --file FILE [--prune] [--json]",
    options: fileOptions,
    examples: ["signet config diff --server https://id.example.com --org 01998d6e-… --file acme.json"],
    runByApi: compareConfiguration,
  },
  {
    name: "config apply",
    summary: "apply a file to an organisation, all of it or nothing; shows the difference and asks first",
    usage: "--org ID --file FILE [--prune] [--yes] [--json]",
    options: { ...fileOptions, yes: { help: "apply without asking" } },
    examples: ["signet config apply --server https://id.example.com --org 01998d6e-… --file acme.json --yes"],
    runByApi: applyConfiguration,
  },
];

export async function exportConfiguration(call: RecordCall): Promise<number> {
  const file = await call.api.read("/configuration");
  const text = `${JSON.stringify(file, null, 2)}\n`;
  const out = optionalText(call.values, "out");
  if (out === undefined) {
    call.io.print(text.trimEnd());
    return 0;
  }
  await writeFile(out, text);
  const count = (section: string) => (Array.isArray(file[section]) ? file[section].length : 0);
  const counts = { applications: count("applications"), scopes: count("scopes") };
  return printResult(call, { file: out, ...counts }, () => [
    `${out}: ${counts.applications} applications, ${counts.scopes} scopes, branding and policies.`,
  ]);
}

interface Sent extends Wire {
  readonly file: unknown;
  readonly prune: boolean;
}

interface Compared {
  readonly changes: readonly Entry[];
}

async function readSent({ values }: RecordCall): Promise<Sent> {
  const name = requiredText(values, "file");
  const text = Buffer.from(await readBounded(name)).toString();
  try {
    return { file: JSON.parse(text) as unknown, prune: values.prune === true };
  } catch (error) {
    throw new Error(`--file ${name}: is not JSON: ${errorMessage(error)}`);
  }
}

const compare = ({ api }: RecordCall, sent: Sent): Promise<Compared> =>
  api.send<Compared>("POST", "/configuration/diff", sent);

const lines = ({ api }: RecordCall, changes: readonly Entry[]): string[] =>
  differenceLines({ id: api.orgId, name: "organisation" }, changes);

export async function compareConfiguration(call: RecordCall): Promise<number> {
  const { changes } = await compare(call, await readSent(call));
  const code = printResult(call, { upToDate: changes.length === 0, changes }, () => [
    ...(changes.length === 0 ? [] : lines(call, changes)),
    changes.length === 0 ? "Already up to date." : "Nothing was changed: signet config apply does it.",
  ]);
  return changes.length === 0 ? code : DRIFT;
}

export async function applyConfiguration(call: RecordCall): Promise<number> {
  const { io, values } = call;
  if (values.json && !values.yes)
    throw new UsageError("--json can't ask for confirmation: add --yes, or look with signet config diff");
  const sent = await readSent(call);
  const { changes } = await compare(call, sent);
  const upToDate = changes.length === 0;
  if (!values.json && !upToDate) for (const line of lines(call, changes)) io.print(line);
  const agreed = !upToDate && (values.yes === true || (await confirmed(call)));
  const done = agreed ? await call.api.send<Compared>("POST", "/configuration/apply", sent) : { changes: [] };
  return printResult(call, { upToDate, applied: agreed, changes: done.changes }, () => [
    upToDate ? "Already up to date." : agreed ? "Applied." : "Nothing was changed.",
  ]);
}

async function confirmed({ io }: RecordCall): Promise<boolean> {
  const answer = await io.confirm("Apply these changes?");
  if (answer === undefined)
    throw new UsageError("no terminal to confirm on: review with signet config diff, then add --yes");
  return answer;
}
