/** `signet agent …`: signing agents, which hold the organisation's own signing keys. */
import { readFileSync, statSync } from "node:fs";
import type { SigningAgent } from "../../core/signing-pools/agent-key.ts";
import { findAgent, listAgents } from "../../core/signing-pools/signing-agent.store.ts";
import { type PresentedKey, readRegistration } from "../../features/sovereign/admin-api/agent-keys.ts";
import { addAgentKeys, deactivateAgent, registerAgent } from "../../features/sovereign/admin-api/agents.ts";
import type { Service } from "../../modules/open-service.ts";
import {
  type Call,
  type Command,
  jsonOption,
  limitOption,
  type Options,
  optionalText,
  orgOption,
  recordArguments,
  requiredText,
  UsageError,
} from "../command.ts";
import { errorMessage } from "../error-message.ts";
import { fields, formatTimeOrNull, printList, printResult } from "../output.ts";
import { OPERATOR, readAll, requireOrganisation } from "../with-service.ts";
import { adminDeps } from "./pool-commands.ts";
import { agentKeyRecord, agentKeyTable, agentRecord, agentState } from "./pool-record.ts";

const keysOption: Options = {
  keys: {
    type: "string",
    value: "FILE",
    help: "public keys with proof of possession, as written by the agent: a list of {jwk, x5c, pop}",
    required: true,
  },
};

const agentRegister: Command = {
  name: "agent register",
  summary: "register an agent in a pool; the API key is shown once",
  usage: "--org ID --pool ID --name NAME --keys FILE [--json]",
  options: {
    ...orgOption,
    pool: { type: "string", value: "ID", help: "pool ID", required: true },
    name: { type: "string", value: "NAME", help: "name, up to 100 characters", required: true },
    ...keysOption,
    ...jsonOption,
  },
  examples: ["signet agent register --org 01998d6e-… --pool 01998d70-… --name agent-1 --keys agent-1.json"],
  runWithService: async (service, call) => {
    const { values } = call;
    const { id: orgId } = await requireOrganisation(service, values);
    const { agent, apiKey, keys } = await registerAgent(
      adminDeps(service),
      { orgId, actor: OPERATOR },
      {
        poolId: requiredText(values, "pool").toLowerCase(),
        name: requiredText(values, "name"),
        keys: readKeys(requiredText(values, "keys")),
      },
    );
    const now = service.clock();
    const record = { ...agentRecord(agent), apiKey, keys: keys.map((key) => agentKeyRecord(key, now)) };
    return printResult(call, record, () => [
      ...fields({ agentId: agent.id, poolId: agent.poolId, apiKey }),
      "",
      ...agentKeyTable(keys, now),
      "",
      "Copy the API key now: Signet can't show it again.",
    ]);
  },
};

const agentList: Command = {
  name: "agent list",
  summary: "list the organisation's signing agents, including deactivated ones",
  usage: "--org ID [--pool ID] [--limit COUNT] [--json]",
  options: {
    ...orgOption,
    pool: { type: "string", value: "ID", help: "pool ID: agents of this pool only" },
    ...limitOption,
    ...jsonOption,
  },
  runWithService: async (service, call) => {
    const { id: orgId } = await requireOrganisation(service, call.values);
    const poolId = optionalText(call.values, "pool")?.toLowerCase();
    const list = await readAll(call.values, (page) =>
      listAgents(service.database.query, orgId, { ...page, ...(poolId === undefined ? {} : { poolId }) }),
    );
    return printList(call, list, {
      record: agentRecord,
      headings: ["ID", "NAME", "POOL", "STATUS", "LAST SEEN"],
      row: (agent) => [
        agent.id,
        agent.name,
        agent.poolId,
        agentState(agent),
        formatTimeOrNull(agent.lastSeenAt) ?? "never",
      ],
      none: "No signing agents yet: signet agent register --org … --pool … --name … --keys FILE",
    });
  },
};

async function requireAgent(
  service: Service,
  { values, positionals: [id] }: Pick<Call, "values" | "positionals">,
): Promise<SigningAgent> {
  const organisation = await requireOrganisation(service, values);
  if (id === undefined) throw new UsageError("the ID of the agent is required");
  const agent = await findAgent(service.database.query, organisation.id, id.toLowerCase());
  if (!agent) throw new Error(`there is no signing agent "${id}" in this organisation`);
  return agent;
}

const agentAddKey: Command = {
  name: "agent add-key",
  summary: "add keys to an agent; its keys of the same algorithm retire when the new ones become active",
  usage: "ID --org ID --keys FILE [--json]",
  positionals: 1,
  options: { ...orgOption, ...keysOption, ...jsonOption },
  runWithService: async (service, call) => {
    const { orgId, id: agentId } = await requireAgent(service, call);
    const presented = readKeys(requiredText(call.values, "keys"));
    const by = { orgId, actor: OPERATOR };
    const keys = await addAgentKeys(adminDeps(service), by, { agentId, keys: presented });
    const now = service.clock();
    const record = { agentId, keys: keys.map((key) => agentKeyRecord(key, now)) };
    return printResult(call, record, () => agentKeyTable(keys, now));
  },
};

const agentDeactivate: Command = {
  name: "agent deactivate",
  summary: "deactivate an agent and its API key immediately; its tokens stay valid",
  ...recordArguments,
  runWithService: async (service, call) => {
    const agent = await requireAgent(service, call);
    const deactivated = await deactivate(service, agent, false);
    return printResult(call, deactivated, () => [
      `Deactivated "${agent.name}". Its tokens stay valid until they expire.`,
    ]);
  },
};

const agentCompromise: Command = {
  name: "agent compromise",
  summary: "mark an agent's keys as compromised: removes them from the JWKS, which invalidates their tokens",
  ...recordArguments,
  runWithService: async (service, call) => {
    const agent = await requireAgent(service, call);
    const deactivated = await deactivate(service, agent, true);
    return printResult(call, deactivated, () => [
      `Marked "${agent.name}" as compromised and removed its keys from the JWKS. Clients may cache it for up to five minutes.`,
    ]);
  },
};

async function deactivate(service: Service, { orgId, id: agentId }: SigningAgent, compromised: boolean) {
  await deactivateAgent(adminDeps(service), { orgId, actor: OPERATOR }, { agentId, compromised });
  const agent = await findAgent(service.database.query, orgId, agentId);
  return agent ? agentRecord(agent) : { agentId };
}

const MAX_BYTES = 256 * 1024;

/** @throws Error naming the file; registration validates the keys */
function readKeys(path: string): readonly PresentedKey[] {
  let text: string;
  try {
    if (statSync(path).size > MAX_BYTES) throw new Error("the file is larger than 256 KiB");
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new Error(`--keys ${path}: ${errorMessage(error)}`);
  }
  const registration = readRegistration(text);
  if (!registration)
    throw new Error(
      `--keys ${path}: the file must contain keys of the form {"jwk": …, "x5c": […], "pop": "…"}`,
    );
  return registration.keys;
}

export const agentCommands: readonly Command[] = [
  agentRegister,
  agentList,
  agentAddKey,
  agentDeactivate,
  agentCompromise,
];
