import { type HouseRule, isTestCode, lineAt } from "./fault.ts";
import { codeText } from "./source/code-text.ts";

const environmentUse = /\bprocess\s*\??\.\s*env\b|\bprocess\s*\[|\benv\b[^;=]*\}\s*=\s*process\b/g;
const processImport = /\bimport\b[^;]*\benv\b[^;]*\bfrom\s*["']/g;

/** In the server only config.ts reads the environment, so that one file names every setting and its faults. */
export const environmentPlace: HouseRule = (files) =>
  files
    .filter(({ path }) => path.startsWith("packages/server/src/") && path.endsWith(".ts"))
    .filter(({ path }) => path !== "packages/server/src/config/config.ts" && !isTestCode(path))
    .flatMap(({ path, text }) => {
      const code = codeText(text);
      const uses = [...code.matchAll(environmentUse), ...code.matchAll(processImport)];
      return uses.map((use) => ({
        file: path,
        line: lineAt(text, use.index),
        rule: "environment-place",
        message: "only config.ts reads the environment: take the value as an argument",
      }));
    });
