// The lines `Name: value` of a printed file.
import { readFileSync } from "node:fs";

export const printedValues = (file) =>
  Object.fromEntries(
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.includes(": "))
      .map((line) => line.split(/:\s+/)),
  );
