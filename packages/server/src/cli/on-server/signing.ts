/** `signet keys …`, `pool …` and `agent …` with `--server`: what signs tokens, by API v1. */
import { optionalChoice, optionalText, type RecordCall, requiredText } from "../command.ts";
import { algorithms } from "../keys/keys-commands.ts";
import { readKeys } from "../pool/agent-commands.ts";
import { readPool } from "../pool/pool-commands.ts";
import type { Wire } from "../remote/api-types.ts";
import { pathOf, printRecord, printRecords } from "../remote/named-records.ts";
import type { OnServer } from "./on-server.ts";

const pathOfPool = (call: RecordCall): string => pathOf(call, "/pools", "signing pool");
const pathOfAgent = (call: RecordCall): string => pathOf(call, "/agents", "signing agent");

const keys: Readonly<Record<string, OnServer>> = {
  "keys list": (call) =>
    printRecords(call, "/signing-keys", {
      columns: { KID: "kid", ALG: "alg", STATE: "state", "ACTIVE FROM": "activeFrom", RETIRES: "retireAt" },
      none: "There are no signing keys.",
    }),
  "keys rotate": async (call) => {
    const compromised = call.values.compromised === true;
    const alg = optionalChoice(call.values, "alg", algorithms) ?? "ES256";
    const key = await call.api.send("POST", "/signing-keys", { alg, compromised });
    return printRecord(
      call,
      key,
      compromised
        ? "The old keys are removed from the JWKS. Clients may cache it for up to five minutes."
        : "The old key stays published until its last token expires.",
    );
  },
};

const setPoolEnabled =
  (enabled: boolean): OnServer =>
  async (call) =>
    printRecord(
      call,
      await call.api.send("PATCH", pathOfPool(call), { enabled }),
      enabled ? "Enabled." : "Disabled.",
    );

const filterOf = (poolId: string | undefined): string | undefined =>
  poolId === undefined ? undefined : `poolId eq ${JSON.stringify(poolId)}`;

const pools: Readonly<Record<string, OnServer>> = {
  "pool create": async (call) =>
    printRecord(call, await call.api.send("POST", "/pools", readPool(call.values)), "Created."),
  "pool list": (call) =>
    printRecords(call, "/pools", {
      columns: {
        ID: "id",
        NAME: "name",
        ALGORITHMS: "algs",
        "ISSUER MODE": "issuerMode",
        ENABLED: "enabled",
      },
      none: "The organisation has no signing pools yet: signet pool create --org … --name …",
    }),
  "pool show": async (call) => {
    const pool = await call.api.read<Wire & { readonly id: string }>(pathOfPool(call));
    const { items } = await call.api.list("/agents", { query: { filter: filterOf(pool.id) ?? "" } });
    const ofAgents = items.flatMap((agent) =>
      (agent["keys"] as readonly Wire[]).map((key) => ({ agentId: agent["id"], ...key })),
    );
    return printRecord(call, { ...pool, keys: ofAgents });
  },
  "pool disable": setPoolEnabled(false),
  "pool enable": setPoolEnabled(true),
};

/** Without what a key has not. */
const presented = ({ jwk, x5c = [], pop }: ReturnType<typeof readKeys>[number]): Wire => ({
  ...{ jwk, pop },
  ...(x5c.length > 0 ? { x5c } : {}),
});

const agents: Readonly<Record<string, OnServer>> = {
  "agent register": async (call) => {
    const { values } = call;
    const body = {
      poolId: requiredText(values, "pool"),
      name: requiredText(values, "name"),
      keys: readKeys(values).map(presented),
    };
    const made = await call.api.send("POST", "/agents", body);
    return printRecord(call, made, "Copy the API key now: Signet can't show it again.");
  },
  "agent list": (call) =>
    printRecords(call, "/agents", {
      query: { filter: filterOf(optionalText(call.values, "pool")?.toLowerCase()) },
      columns: { ID: "id", NAME: "name", POOL: "poolId", STATE: "state", "LAST SEEN": "lastSeenAt" },
      none: "No signing agents yet: signet agent register --org … --pool … --name … --keys FILE",
    }),
  "agent add-key": async (call) => {
    const path = pathOfAgent(call);
    // Each is checked on its own: those before a refused one have been added.
    for (const key of readKeys(call.values)) await call.api.send("POST", `${path}/keys`, presented(key));
    return printRecord(call, await call.api.read(path));
  },
  "agent deactivate": async (call) =>
    printRecord(
      call,
      await call.api.send("POST", `${pathOfAgent(call)}/deactivate`, {}),
      "Deactivated. Its tokens stay valid until they expire.",
    ),
  "agent compromise": async (call) =>
    printRecord(
      call,
      await call.api.send("POST", `${pathOfAgent(call)}/compromise`, {}),
      "Marked as compromised, and its keys removed from the JWKS. Clients may cache it for up to five minutes.",
    ),
};

export const signingOnServer: Readonly<Record<string, OnServer>> = { ...keys, ...pools, ...agents };
