/** The commands an administrator runs on an agent's machine. */
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";

/** As in the agent's documentation. */
export const FOLDER = "/etc/signet-agent";

/** Creates a key and prints its registration; the private key stays on the machine. */
export const newAgentCommand = (baseUrl: string, { orgId, id }: Pick<SigningPool, "orgId" | "id">): string =>
  [
    `signet-agent enroll --service ${baseUrl}`,
    `--organisation ${orgId}`,
    `--pool ${id}`,
    `--name agent-1 --dir ${FOLDER} --print`,
  ].join(" \\\n  ");

/** Prints the registration of another key. */
export const keysCommand = (): string =>
  [
    `signet-agent keys list --config ${FOLDER}/agent.yaml`,
    `signet-agent keys register --config ${FOLDER}/agent.yaml --kid KID --print`,
  ].join("\n");
