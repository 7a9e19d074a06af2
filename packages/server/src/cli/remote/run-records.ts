/** Runs commands on records by API v1: of the server that the call names, else inside this process on the database. */
import { type Call, type Command, type RecordCall, type RemoteCall, UsageError } from "../command.ts";
import { requireOrganisation, withService } from "../with-service.ts";
import { localApi } from "./local-transport.ts";
import { recordApi } from "./record-api.ts";
import { namedServer, remoteRecords } from "./remote-call.ts";

/** What the command does without the database; undefined: it needs the database. @throws UsageError */
export function remoteWork(command: Command, call: RemoteCall): (() => Promise<number>) | undefined {
  if ("runRemotely" in command) return () => command.runRemotely(call);
  const work = "runByApi" in command ? command.runByApi : command.atServer;
  if (work) {
    const server = namedServer(call);
    return server === undefined ? undefined : () => work(remoteRecords(call, server));
  }
  // It would work on another organisation's records than those that were meant.
  if ("runInOrganisation" in command && call.client.server !== undefined)
    throw new UsageError("works on the database alone: unset SIGNET_SERVER");
  return undefined;
}

export const localWork = (call: Call, work: (call: RecordCall) => Promise<number>): Promise<number> =>
  withService(call, async (service, here) => {
    const { id } = await requireOrganisation(service, here.values);
    const local = await localApi(service);
    try {
      const { io, values, positionals } = here;
      return await work({ io, values, positionals, api: recordApi(local.transport, id) });
    } finally {
      await local.close();
    }
  });
