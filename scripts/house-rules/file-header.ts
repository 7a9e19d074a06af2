import { type HouseRule, isTestCode } from "./fault.ts";

/** The first line of a package's source file says what a reader gets there. */
export const fileHeader: HouseRule = (files) =>
  files
    .filter(({ path }) => /^packages\/[^/]+\/src\/.*\.ts$/.test(path) && !isTestCode(path))
    .filter(({ path }) => !path.includes("/db/migrations/"))
    .filter(({ text }) => !/^(?:#!.*\n)?\/[/*]/.test(text))
    .map(({ path }) => ({
      file: path,
      line: 1,
      rule: "file-header",
      message: "begins with a comment: what a reader gets here",
    }));
