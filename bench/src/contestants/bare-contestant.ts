import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startChild } from "../child.ts";
import type { Call } from "../load/load-plan.ts";
import type { BareWork } from "./bare-works.ts";
import { type Contestant, seedSeconds, type Target } from "./contestant.ts";
import type { WorkName } from "./works.ts";

const expectedText: Record<BareWork, string> = {
  hello: "hello",
  sign: "access_token",
  prove: "access_token",
  insert: "request_uri",
  exchange: "id_token",
  refresh: "refresh_token",
  introspect: '"active":true',
};

/** The bare limit: one process per row, which does that row's work only. Its database lies in `folder`. */
export function bareContestant(folder: string): Contestant {
  return {
    name: "bare",
    target: async (row): Promise<Target> => {
      const data = join(folder, row.name);
      mkdirSync(data);
      return { ...(await startBare(row.bare, data)), call: calls[row.name] };
    },
  };
}

/** A process of its own for one work. */
export async function startBare(work: BareWork, folder: string): Promise<Omit<Target, "call">> {
  const child = await startChild<number, string[]>("contestants/bare.ts", [work, folder]);
  return {
    port: child.port,
    pids: [child.pid],
    expectedText: expectedText[work],
    seed: (_kind, count) => child.ask(count, seedSeconds),
  };
}

// As large as what the service is sent, so that reading the form costs the same.
const form = {
  client_id: "019a2b3c-0000-7000-8000-000000000001",
  client_secret: "sgn_cs_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG",
};
export const barePost = (fields: Record<string, string>): Call => ({
  method: "POST",
  path: "/",
  form: { ...fields, ...form },
});

const calls: Record<WorkName, Call> = {
  discovery: { method: "GET", path: "/" },
  jwks: { method: "GET", path: "/" },
  "client-credentials": barePost({ grant_type: "client_credentials" }),
  "code-exchange": barePost({ grant_type: "authorization_code" }),
  refresh: barePost({ grant_type: "refresh_token" }),
  introspection: barePost({}),
};
