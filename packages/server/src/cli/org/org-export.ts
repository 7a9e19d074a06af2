/** `signet org export`: the organisation's configuration as a file to keep under version control. */
import { writeFile } from "node:fs/promises";
import { type Exported, exportOrganisation } from "../../core/configuration/export.ts";
import { answer, plain } from "../answer.ts";
import { type Command, jsonOption, optionalText, orgOption } from "../command.ts";
import { organisationOf, withService } from "../with-service.ts";

export const orgExport: Command = {
  name: "org export",
  summary: "write an organisation's configuration as JSON: no secrets, no users",
  usage: "--org ID [--out FILE] [--json]",
  options: {
    ...orgOption,
    out: { type: "string", value: "FILE", help: "where to write it (default: standard output)" },
    ...jsonOption,
  },
  examples: ["signet org export --org 01998d6e-… --out acme.json"],
  run: (call) =>
    withService(call, async (service) => {
      const { id } = await organisationOf(service, call.values);
      const exported = await service.database.transaction((tx) => exportOrganisation(tx, id));
      if (!exported) throw new Error("the organisation is gone");
      for (const name of sharedNames(exported))
        call.io.printError(
          plain(
            `Note: several applications are called "${name}". Before another organisation can take this file, give each an externalKey in it.`,
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
      return answer(call, { file: out, ...counts }, () => [
        `${out}: ${counts.applications} applications, ${counts.scopes} scopes, branding and policies.`,
      ]);
    }),
};

/** Names that do not tell one application from the other. */
function sharedNames({ file }: Exported): string[] {
  const keyless = (file.applications ?? []).filter(({ externalKey }) => externalKey === undefined);
  const byName = Map.groupBy(keyless, ({ name }) => name);
  return [...byName].filter(([, members]) => members.length > 1).map(([name]) => name);
}
