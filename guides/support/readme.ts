/** What a guide's README has to be followed for: its commands, and its `.env` file. */

export interface Readme {
  /** Each as its words: `app create --org $ORG …`. */
  readonly commands: ReadonlyArray<readonly string[]>;
  /** The lines of the block with the environment. */
  readonly environment: string;
}

const COMMAND = "npm run -s signet -- ";

export function readReadme(markdown: string): Readme {
  const blocks = [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)];
  const linesOf = (language: string) =>
    blocks
      .filter(([, name]) => name === language)
      .map(([, , text = ""]) => text)
      .join("");
  const commands = linesOf("sh")
    // As a shell reads them: a line ends in a backslash, and goes on.
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.startsWith(COMMAND))
    .map((line) => words(line.slice(COMMAND.length)));
  return { commands, environment: linesOf("env") };
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
