import type { Fault } from "./house-rules/fault.ts";
import type { CommandResult } from "./run-command.ts";

type GitlabIssue = {
  description: string;
  check_name: string;
  location: { path: string; lines: { begin: number } };
};

/** The faults in what `biome check --reporter=gitlab` printed: that reporter alone gives every fault a path and a line. */
export function biomeFaults({ exitCode, stdout, stderr }: CommandResult): Fault[] {
  const issues = stdout.trim().startsWith("[") ? (JSON.parse(stdout) as GitlabIssue[]) : [];
  const faults = issues.map(({ description, check_name: rule, location }) => ({
    file: location.path,
    line: location.lines.begin,
    rule,
    message: rule === "format" ? "not formatted: run `npm run format`" : description,
  }));
  return exitCode !== 0 && faults.length === 0 ? [toolFault("biome", `${stdout}\n${stderr}`)] : faults;
}

const compilerLine = /^(.+?)\((\d+),\d+\): error (TS\d+): (.*)$/;

/** The faults in what `tsc --pretty false` printed; indented lines go on with the message before them. */
export function compilerFaults({ exitCode, stdout, stderr }: CommandResult): Fault[] {
  const faults: Fault[] = [];
  for (const line of stdout.split("\n")) {
    const [, file, lineNumber, rule, message] = compilerLine.exec(line) ?? [];
    const last = faults.at(-1);
    if (file && rule && message) faults.push({ file, line: Number(lineNumber), rule, message });
    else if (last && /^\s+\S/.test(line)) last.message += ` ${line.trim()}`;
  }
  return exitCode !== 0 && faults.length === 0 ? [toolFault("tsc", `${stdout}\n${stderr}`)] : faults;
}

/** A tool that fails without naming a place: its own words, so that the failure is never silent. */
function toolFault(tool: string, output: string): Fault {
  const configuration = tool === "biome" ? "biome.json" : "tsconfig.json";
  return { file: configuration, line: 1, rule: tool, message: output.trim() || "failed without a word" };
}
