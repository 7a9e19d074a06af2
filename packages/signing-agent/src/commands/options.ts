/** Options that several commands share, and what commands need from the process. */
import {
  type Command,
  flag,
  type Io,
  optionalText,
  requiredText,
  textOption,
  type Values,
} from "@signet/cli-runtime/command";
import { readSecretFile } from "@signet/cli-runtime/private-file";
import { agentAlgs } from "@signet/protocol/agent-signature";
import type { SystemAccount } from "../service/register-agent.ts";

export interface AgentIo extends Io {
  /** Undefined when standard input is not a terminal. */
  readonly terminal: { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WriteStream } | undefined;
}

export type AgentCommand = Command<AgentIo>;

export const configOption = {
  config: textOption("FILE", "agent configuration (default: agent.yaml)"),
};

export const configFile = (values: Values): string => optionalText(values, "config") ?? "agent.yaml";

export const algOption = {
  alg: textOption("ALG", `${agentAlgs.join(", ")} (default: ES256)`),
};

export const accountOptions = {
  account: textOption("PUBLIC_KEY", "public key of an administrator's system account"),
  "account-secret-file": textOption("FILE", "file of mode 0600 with the account's secret"),
  print: flag("print the registration for an administrator instead of sending it"),
};

/** @returns undefined with --print. @throws UsageError unless both options are there */
export async function readAccount(values: Values): Promise<SystemAccount | undefined> {
  if (values["print"] === true) return undefined;
  const publicKey = requiredText(values, "account");
  return { publicKey, secret: await readSecretFile(requiredText(values, "account-secret-file")) };
}
