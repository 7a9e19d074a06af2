import { type HouseRule, isTestCode } from "./fault.ts";
import { importsByFile } from "./module-imports.ts";

/** SQL lives in `*.store.ts` files and in `db/`: nothing else imports Kysely. The `Db` type comes from `db/`. */
export const kyselyPlace: HouseRule = (files) =>
  [...importsByFile(files)].flatMap(([file, imports]) =>
    mayUseKysely(file)
      ? []
      : imports
          .filter(({ specifier }) => specifier === "kysely" || specifier.startsWith("kysely/"))
          .map(({ line }) => ({
            file,
            line,
            rule: "kysely-place",
            message: "kysely is only for *.store.ts files, db/ and tests",
          })),
  );

function mayUseKysely(file: string): boolean {
  if (!file.startsWith("packages/") || isTestCode(file)) return true;
  return file.endsWith(".store.ts") || file.startsWith("packages/server/src/db/");
}
