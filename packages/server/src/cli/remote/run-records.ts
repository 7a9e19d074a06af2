/** Runs commands on records by API v1: of the server that the call names, else inside this process on the database. */
import {
  type Call,
  type Command,
  optionsOf,
  type RecordCall,
  type RemoteCall,
  UsageError,
} from "../command.ts";
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
    if (server === undefined) return undefined;
    return () => work(remoteRecords(call, server, "org" in optionsOf(command)));
  }
  return undefined;
}

/** A command that needs the database would work on another installation than was meant. @throws UsageError */
export function requireHere(
  { onlyHere }: Command,
  { values, client }: Pick<RemoteCall, "values" | "client">,
): void {
  if (values.server !== undefined || client.server !== undefined)
    throw new UsageError(`${onlyHere}: run it where the server runs, without --server and SIGNET_SERVER`);
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
