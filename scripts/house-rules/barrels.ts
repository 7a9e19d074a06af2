import { type HouseRule, lineAt } from "./fault.ts";
import { codeText } from "./source/code-text.ts";

/** No file passes another file's exports on wholesale: whoever needs a name imports it from where it is written. */
export const barrels: HouseRule = (files) =>
  files
    .filter(({ path }) => path.endsWith(".ts"))
    .flatMap(({ path, text }) =>
      [...codeText(text).matchAll(/\bexport\s+(?:type\s+)?\*/g)].map((match) => ({
        file: path,
        line: lineAt(text, match.index),
        rule: "barrel",
        message: "`export *` hides where a name comes from: import it from its own file",
      })),
    );
