/** What is typed on an agent's machine. */
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";

/** As the agent's documentation has it. */
export const FOLDER = "/etc/signet-agent";

/** Makes a key and prints what is to be registered; the private half stays there. */
export const newAgentCommand = (baseUrl: string, { orgId, id }: Pick<SigningPool, "orgId" | "id">): string =>
  [
    `signet-agent enroll --service ${baseUrl}`,
    `--organisation ${orgId}`,
    `--pool ${id}`,
    `--name agent-1 --dir ${FOLDER} --print`,
  ].join(" \\\n  ");

/** Prints one more key of the configuration. */
export const keysCommand = (): string =>
  [
    `signet-agent keys list --config ${FOLDER}/agent.yaml`,
    `signet-agent keys register --config ${FOLDER}/agent.yaml --kid KID --print`,
  ].join("\n");
