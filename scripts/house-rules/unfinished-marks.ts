import { type HouseRule, lineAt } from "./fault.ts";

// Written in parts, so that this file does not name itself.
const mark = new RegExp(`\\b(?:${["TO", "DO"].join("")}|${["FIX", "ME"].join("")})\\b`, "g");

/** Unfinished work is an issue, not a comment. */
export const unfinishedMarks: HouseRule = (files) =>
  files.flatMap(({ path, text }) =>
    [...text.matchAll(mark)].map((match) => ({
      file: path,
      line: lineAt(text, match.index),
      rule: "unfinished-mark",
      message: `${match[0]}: finish it, or open an issue and leave the comment out`,
    })),
  );
