import { type HouseRule, isTestCode, lineAt } from "./fault.ts";
import { codeText } from "./source/code-text.ts";
import { importsByFile } from "./source/module-imports.ts";

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

/** `eb.and({…})` leaves out a column whose value is undefined, that of the organisation included: `allOf` throws. */
export const completeConditions: HouseRule = (files) =>
  files
    .filter(({ path }) => path.endsWith(".store.ts"))
    .flatMap(({ path, text }) =>
      [...codeText(text).matchAll(/\.(?:and|or)\((?!\s*\[)/g)].map((match) => ({
        file: path,
        line: lineAt(text, match.index),
        rule: "complete-conditions",
        message: "leaves out what is undefined: use allOf of db/conditions.ts",
      })),
    );

function mayUseKysely(file: string): boolean {
  if (!file.startsWith("packages/") || isTestCode(file)) return true;
  return file.endsWith(".store.ts") || file.startsWith("packages/server/src/db/");
}
