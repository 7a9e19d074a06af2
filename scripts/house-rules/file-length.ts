import type { HouseRule } from "./fault.ts";

const maximumLines = 400;

/** A file of code or styles over 400 lines is a defect (30 to 150 is usual). */
export const fileLength: HouseRule = (files) =>
  files.flatMap(({ path, text }) => {
    const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
    if (lines <= maximumLines) return [];
    const message = `${lines} lines, the limit is ${maximumLines}: split it by what its parts are for`;
    return [{ file: path, line: maximumLines + 1, rule: "file-length", message }];
  });
