/** `signet org export`: the organisation's configuration as a file for version control. */
import { writeFile } from "node:fs/promises";
import { type Exported, exportOrganisation } from "../../core/configuration/export.ts";
import { type Command, optionalText } from "../command.ts";
import { escapeControls, printResult } from "../output.ts";

export const orgExport: Command = {
  name: "org export",
  summary: "export an organisation's configuration as JSON, without secrets and users",
  usage: "--org ID [--out FILE] [--json]",
  options: { out: { value: "FILE", help: "output file (default: standard output)" } },
  examples: ["signet org export --org 01998d6e-… --out acme.json"],
  runInOrganisation: async (call) => {
    const { database } = call.service;
    const exported = await database.transaction((tx) => exportOrganisation(tx, call.organisation.id));
    if (!exported) throw new Error("the organisation no longer exists");
    for (const name of duplicateNames(exported))
      call.io.printError(
        escapeControls(
          `Note: several applications are named "${name}". Give each an externalKey before you apply the file to another organisation.`,
        ),
      );
    const out = optionalText(call.values, "out");
    if (out === undefined) {
      call.io.print(exported.text.trimEnd());
      return 0;
    }
    await writeFile(out, exported.text);
    const { scopes = [], applications = [] } = exported.file;
    const counts = { applications: applications.length, scopes: scopes.length };
    return printResult(call, { file: out, ...counts }, () => [
      `${out}: ${counts.applications} applications, ${counts.scopes} scopes, branding and policies.`,
    ]);
  },
};

/** Names shared by several applications without an external key. */
function duplicateNames({ file }: Exported): string[] {
  const keyless = (file.applications ?? []).filter(({ externalKey }) => externalKey === undefined);
  const byName = Map.groupBy(keyless, ({ name }) => name);
  return [...byName].filter(([, members]) => members.length > 1).map(([name]) => name);
}
