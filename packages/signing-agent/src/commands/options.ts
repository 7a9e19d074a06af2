/** Options that several commands share, and what commands need from the process. */
import { type Command, type Io, optionalText, requiredText, type Values } from "@signet/cli-runtime/command";
import { readSecretFile } from "@signet/cli-runtime/private-file";
import type { SystemAccount } from "../service/register-agent.ts";

export interface AgentIo extends Io {
  /** Undefined when standard input is not a terminal. */
  readonly terminal: { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WriteStream } | undefined;
}

export type AgentCommand = Command<AgentIo>;

export const configOption = {
  config: { type: "string", value: "FILE", help: "agent configuration (default: agent.yaml)" },
} as const;

export const configFile = (values: Values): string => optionalText(values, "config") ?? "agent.yaml";

export const algOption = {
  alg: { type: "string", value: "ALG", help: "ES256 (default), ES384, PS256, RS256 or EdDSA" },
} as const;

export const accountOptions = {
  account: { type: "string", value: "PUBLIC_KEY", help: "public key of an administrator's system account" },
  "account-secret-file": {
    type: "string",
    value: "FILE",
    help: "file of mode 0600 with the account's secret",
  },
} as const;

/** @throws UsageError unless both options are there */
export async function readAccount(values: Values): Promise<SystemAccount> {
  const publicKey = requiredText(values, "account");
  return { publicKey, secret: await readSecretFile(requiredText(values, "account-secret-file")) };
}
