/** `--for` and `--url`: the settings that a library or product needs, and its own settings as they are printed. */
import type { Application, ApplicationSettings } from "../../core/applications/application.ts";
import { addressOf } from "../../core/applications/kinds.ts";
import {
  type SetupFile,
  type Stack,
  settingsOfStack,
  setupOf,
  usesAddress,
} from "../../core/stacks/stack.ts";
import { type StackName, stackNames, stacks } from "../../core/stacks/stacks.ts";
import { choice, type Options, optionalText, UsageError, type Values } from "../command.ts";

export const stackOptions: Options = {
  for: { value: "STACK", help: `settings for a library or product: ${stackNames.join(", ")}` },
  url: { value: "URL", help: "with --for: where the application runs (default: the stack's own default)" },
};

export interface ChosenStack {
  readonly name: StackName;
  readonly stack: Stack;
  /** The origin of `--url`. */
  readonly address: string | undefined;
}

/** @returns undefined without `--for` @throws UsageError naming every stack, or for a wrong URL */
export function readStack(values: Values): ChosenStack | undefined {
  const text = optionalText(values, "for");
  const url = optionalText(values, "url");
  if (text === undefined) {
    if (url !== undefined) throw new UsageError("--url needs --for");
    return undefined;
  }
  const name = choice("for", text, stackNames);
  const stack: Stack = stacks[name];
  const address = url === undefined ? undefined : addressOf(url);
  if (url !== undefined && address === undefined)
    throw new UsageError(
      `--url ${url}: must be an http or https URL without a path; for another path give --redirect-uri`,
    );
  if (address !== undefined && !usesAddress(stack))
    throw new UsageError(`--url: ${name} is reached at addresses of its own; for others give --redirect-uri`);
  return { name, stack, address };
}

export const newSettingsOf = (chosen: ChosenStack | undefined): Partial<ApplicationSettings> =>
  chosen ? settingsOfStack(chosen.stack, chosen.address) : {};

/** The members that `--for` adds to the JSON document, and the lines that follow the record's. */
export function stackOutput(
  chosen: ChosenStack | undefined,
  application: Pick<Application, "id" | "orgId" | "settings">,
  baseUrl: string,
  clientSecret?: string,
): { document: { stack?: StackName; setup?: readonly SetupFile[] }; lines: string[] } {
  if (!chosen) return { document: {}, lines: [] };
  const setup = setupOf(chosen.stack, application, { baseUrl, clientSecret });
  const lines = setup.flatMap(({ file, lines: content }) => ["", `--- ${file}`, content]);
  return {
    document: { stack: chosen.name, setup },
    lines: ["", `Settings for ${chosen.stack.title}:`, ...lines],
  };
}
