/** `signet agent …`: signing agents, which hold the organisation's own signing keys. */
import type { SigningAgent } from "../../core/signing-pools/agent-key.ts";
import { findAgent, listAgents } from "../../core/signing-pools/signing-agent.store.ts";
import { type PresentedKey, readRegistration } from "../../features/sovereign/admin-api/agent-keys.ts";
import { addAgentKeys, deactivateAgent, registerAgent } from "../../features/sovereign/admin-api/agents.ts";
import {
  type Command,
  definedOnly,
  limitOption,
  type Options,
  type OrganisationCall,
  optionalText,
  requiredText,
  type Values,
} from "../command.ts";
import { fields, printList, printResult, readOptionFile, timeOrNever } from "../output.ts";
import { readAll, requireRecord } from "../with-service.ts";
import { adminDeps } from "./pool-commands.ts";
import { agentKeyRecord, agentKeyTable, agentRecord, agentState } from "./pool-record.ts";

const keysOption: Options = {
  keys: {
    value: "FILE",
    help: "public keys with proof of possession, as written by the agent: a list of {jwk, x5c, pop}",
    required: true,
  },
};

export const agentCommands: readonly Command[] = [
  {
    name: "agent register",
    summary: "register an agent in a pool; the API key is shown once",
    usage: "--org ID --pool ID --name NAME --keys FILE [--json]",
    options: {
      pool: { value: "ID", help: "pool ID", required: true },
      name: { value: "NAME", help: "name, up to 100 characters", required: true },
      ...keysOption,
    },
    examples: ["signet agent register --org 01998d6e-… --pool 01998d70-… --name agent-1 --keys agent-1.json"],
    runInOrganisation: register,
  },
  {
    name: "agent list",
    summary: "list the organisation's signing agents, including deactivated ones",
    usage: "--org ID [--pool ID] [--limit COUNT] [--json]",
    options: { pool: { value: "ID", help: "pool ID: agents of this pool only" }, ...limitOption },
    runInOrganisation: (call) => {
      const poolId = definedOnly({ poolId: optionalText(call.values, "pool")?.toLowerCase() });
      const agents = readAll(call.values, (page) =>
        listAgents(call.service.database.query, call.organisation.id, { ...page, ...poolId }),
      );
      return printList(call, agents, {
        record: agentRecord,
        columns: {
          ID: "agentId",
          NAME: "name",
          POOL: "poolId",
          STATUS: agentState,
          "LAST SEEN": ({ lastSeenAt }) => timeOrNever(lastSeenAt),
        },
        none: "No signing agents yet: signet agent register --org … --pool … --name … --keys FILE",
      });
    },
  },
  {
    name: "agent add-key",
    summary: "add keys to an agent; its keys of the same algorithm retire when the new ones become active",
    usage: "ID --org ID --keys FILE [--json]",
    positionals: 1,
    options: keysOption,
    runInOrganisation: async (call) => {
      const { id: agentId } = await requireAgent(call);
      const { service, by, values } = call;
      const keys = await addAgentKeys(adminDeps(service), by, { agentId, keys: readKeys(values) });
      const now = service.clock();
      const record = { agentId, keys: keys.map((key) => agentKeyRecord(key, now)) };
      return printResult(call, record, () => agentKeyTable(keys, now));
    },
  },
  {
    name: "agent deactivate",
    summary: "deactivate an agent and its API key immediately; its tokens stay valid",
    positionals: 1,
    runInOrganisation: async (call) => {
      const { id, name } = await requireAgent(call);
      return printResult(call, await deactivate(call, id, false), () => [
        `Deactivated "${name}". Its tokens stay valid until they expire.`,
      ]);
    },
  },
  {
    name: "agent compromise",
    summary:
      "mark an agent's keys as compromised: removes them from the JWKS, which invalidates their tokens",
    positionals: 1,
    runInOrganisation: async (call) => {
      const { id, name } = await requireAgent(call);
      return printResult(call, await deactivate(call, id, true), () => [
        `Marked "${name}" as compromised and removed its keys from the JWKS. Clients may cache it for up to five minutes.`,
      ]);
    },
  },
];

async function register(call: OrganisationCall): Promise<number> {
  const { service, by, values } = call;
  const { agent, apiKey, keys } = await registerAgent(adminDeps(service), by, {
    poolId: requiredText(values, "pool").toLowerCase(),
    name: requiredText(values, "name"),
    keys: readKeys(values),
  });
  const now = service.clock();
  const record = { ...agentRecord(agent), apiKey, keys: keys.map((key) => agentKeyRecord(key, now)) };
  return printResult(call, record, () => [
    ...fields({ agentId: agent.id, poolId: agent.poolId, apiKey }),
    "",
    ...agentKeyTable(keys, now),
    "",
    "Copy the API key now: Signet can't show it again.",
  ]);
}

const requireAgent = (call: OrganisationCall): Promise<SigningAgent> =>
  requireRecord(call, "signing agent", (id) =>
    findAgent(call.service.database.query, call.organisation.id, id),
  );

async function deactivate({ service, by }: OrganisationCall, agentId: string, compromised: boolean) {
  await deactivateAgent(adminDeps(service), by, { agentId, compromised });
  const agent = await findAgent(service.database.query, by.orgId, agentId);
  return agent ? agentRecord(agent) : { agentId };
}

const MAX_BYTES = 256 * 1024;

/** @throws Error naming the file; registration validates the keys */
export const readKeys = (values: Values): readonly PresentedKey[] =>
  readOptionFile("keys", requiredText(values, "keys"), MAX_BYTES, (file) => {
    const registration = readRegistration(file.toString());
    if (registration) return registration.keys;
    throw new Error('the file must contain keys of the form {"jwk": …, "x5c": […], "pop": "…"}');
  });
