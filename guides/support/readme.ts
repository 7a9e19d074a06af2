/** What a guide's README has to be followed for: its commands, and its `.env` file. */

export interface Readme {
  /** Each as its words: `app create --org $ORG …`. */
  readonly commands: ReadonlyArray<readonly string[]>;
  /** `curl …` and the commands of others' servers, as a shell reads them. */
  readonly calls: readonly string[];
  /** The lines of the block with the environment. */
  readonly environment: string;
  /** Where what `app create --for` prints belongs: the file that it names, and the one in the guide's folder. */
  readonly printed: ReadonlyMap<string, string>;
  /** Blocks that belong at the end of a file that their fence names: "```python settings.py". */
  readonly added: ReadonlyArray<{ readonly file: string; readonly lines: string }>;
}

/** The head of the table that says so. */
const PRINTED = "| Printed for | Where it goes |\n";

const COMMAND = "npm run -s signet -- ";

export function readReadme(markdown: string): Readme {
  const blocks = [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)];
  const linesOf = (language: string) =>
    blocks
      .filter(([, name]) => name === language)
      .map(([, , text = ""]) => text)
      .join("");
  // As a shell reads them: a line ends in a backslash, and goes on.
  const lines = linesOf("sh")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n");
  const calls = lines.filter((line) => /^(?:curl|kcadm\.sh) /.test(line));
  const commands = lines
    .filter((line) => line.startsWith(COMMAND))
    .map((line) => words(line.slice(COMMAND.length)));
  const named = [...markdown.matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```$/gm)];
  const added = named.map(([, file = "", lines = ""]) => ({ file, lines }));
  return { commands, calls, environment: linesOf("env"), printed: readPrinted(markdown), added };
}

/** The last name of a row is the guide's: "at the end of `settings.py`". */
function readPrinted(markdown: string): Map<string, string> {
  const [, rest = ""] = markdown.split(PRINTED);
  const [table = ""] = rest.split("\n\n");
  const rows = [...table.matchAll(/^\| `([^`]+)` \|.*`([^`]+)`[^`|]*\|$/gm)];
  return new Map(rows.map(([, printed = "", place = ""]) => [printed, place]));
}

const words = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");

/** With `$NAME` of each word replaced. @throws Error for a name that nothing before has given */
export function filled(command: readonly string[], values: Readonly<Record<string, string>>): string[] {
  return command.map((word) =>
    word.replaceAll(/\$(\w+)/g, (_, name: string) => {
      const value = values[name];
      if (value === undefined) throw new Error(`the README uses $${name} before it says what it is`);
      return value;
    }),
  );
}

/** With `<name>` of each line replaced. @throws Error for a name that the commands did not print */
export const filledEnvironment = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/<([^>\n]+)>/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the README's environment asks for <${name}>`);
    return value;
  });
