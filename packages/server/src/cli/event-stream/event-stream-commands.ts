/** `signet event-stream …`: streams of security events to receivers of shared signals (SSF 1.0), which create them themselves. */
import { type Command, definedOnly, limitOption, optionalText, type RecordCall } from "../command.ts";
import type { Wire } from "../remote/api-types.ts";
import { deleteRecord, pathOf, printRecord, printRecords, yesOption } from "../remote/named-records.ts";

const pathOfStream = (call: RecordCall): string => pathOf(call, "/event-streams", "event stream");

const statusCommand = (act: string, status: string, summary: string, done: string): Command => ({
  name: `event-stream ${act}`,
  summary,
  usage: "ID --org ID [--reason TEXT] [--json]",
  positionals: 1,
  options: { reason: { value: "TEXT", help: "told to the receiver" } },
  runByApi: async (call) => {
    const body = definedOnly({ status, statusReason: optionalText(call.values, "reason") });
    return printRecord(call, await call.api.send<Wire>("PATCH", pathOfStream(call), body), done);
  },
});

export const eventStreamCommands: readonly Command[] = [
  {
    name: "event-stream list",
    summary: "list the streams of security events (SSF) that receivers have created",
    usage: "--org ID [--limit COUNT] [--json]",
    options: limitOption,
    runByApi: (call) =>
      printRecords(call, "/event-streams", {
        columns: { ID: "id", CLIENT: "clientId", STATUS: "status", METHOD: "method", URL: "endpointUrl" },
        none: "There are no event streams: receivers create their own, with the scope ssf.manage.",
      }),
  },
  {
    name: "event-stream show",
    summary: "show an event stream",
    positionals: 1,
    runByApi: async (call) => printRecord(call, await call.api.read<Wire>(pathOfStream(call))),
  },
  statusCommand("pause", "paused", "send nothing for now; what happens is held", "Paused."),
  statusCommand("disable", "disabled", "send and hold nothing; what waits is dropped", "Disabled."),
  statusCommand("resume", "enabled", "send again, first what was held", "Enabled."),
  {
    name: "event-stream verify",
    summary: "send a verification event",
    positionals: 1,
    runByApi: async (call) =>
      printRecord(call, await call.api.send<Wire>("POST", `${pathOfStream(call)}/verify`), "Queued."),
  },
  {
    name: "event-stream delete",
    summary: "delete an event stream, and what waits for its receiver",
    usage: "ID --org ID [--yes] [--json]",
    positionals: 1,
    options: yesOption,
    runByApi: (call) => deleteRecord(call, pathOfStream(call), { what: "event stream", name: "id" }),
  },
];
