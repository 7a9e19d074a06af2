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
  exchange: "id_token",
  refresh: "refresh_token",
  introspect: '"active":true',
};

/** The bare limit: one process per row, which does that row's work only. Its database lies in `folder`. */
export function bareContestant(folder: string): Contestant {
  return {
    name: "bare",
    target: async (row): Promise<Target> => {
      const data = join(folder, `bare-${row.name}`);
      mkdirSync(data);
      const child = await startChild<number, string[]>("contestants/bare.ts", [row.bare, data]);
      return {
        port: child.port,
        pids: [child.pid],
        call: calls[row.name],
        expectedText: expectedText[row.bare],
        seed: (_kind, count) => child.ask(count, seedSeconds),
      };
    },
  };
}

// As large as what the service is sent, so that reading the form costs the same.
const form = {
  client_id: "019a2b3c-0000-7000-8000-000000000001",
  client_secret: "sgn_cs_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG",
};
const post = (fields: Record<string, string>): Call => ({
  method: "POST",
  path: "/",
  form: { ...fields, ...form },
});

const calls: Record<WorkName, Call> = {
  discovery: { method: "GET", path: "/" },
  jwks: { method: "GET", path: "/" },
  "client-credentials": post({ grant_type: "client_credentials" }),
  "code-exchange": post({ grant_type: "authorization_code" }),
  refresh: post({ grant_type: "refresh_token" }),
  introspection: post({}),
};
