/** `signet webhook …`: where an organisation's events are sent, and what became of each. */
import {
  type Command,
  choice,
  definedOnly,
  limitOption,
  optionalText,
  type RecordCall,
  repeatedText,
  requiredText,
  UsageError,
} from "../command.ts";
import type { Wire } from "../remote/api-types.ts";
import { deleteRecord, pathOf, printRecord, printRecords, yesOption } from "../remote/named-records.ts";

const pathOfWebhook = (call: RecordCall): string => pathOf(call, "/webhooks", "webhook");

const urlOption = { value: "URL", help: "https address that receives the events" };
const eventOption = {
  value: "EVENT",
  multiple: true,
  help: "audit action, all of a noun (user.*) or *; repeatable",
};
const webhookOption = { webhook: { value: "ID", help: "webhook ID", required: true } };

export const webhookCommands: readonly Command[] = [
  {
    name: "webhook list",
    summary: "list the organisation's webhooks",
    usage: "--org ID [--limit COUNT] [--json]",
    options: limitOption,
    runByApi: (call) =>
      printRecords(call, "/webhooks", {
        columns: { ID: "id", URL: "url", EVENTS: "events", ENABLED: "enabled" },
        none: "There are no webhooks yet: signet webhook create --org … --url … --event user.*",
      }),
  },
  {
    name: "webhook create",
    summary: "send events to an address; prints the secret that signs them, once",
    usage: "--org ID --url URL --event EVENT… [--json]",
    options: { url: { ...urlOption, required: true }, event: eventOption },
    examples: ["signet webhook create --org 01998d6e-… --url https://app.example/hooks --event 'user.*'"],
    runByApi: async (call) => {
      const events = repeatedText(call.values, "event");
      if (events.length === 0) throw new UsageError("--event is required");
      const body = { url: requiredText(call.values, "url"), events };
      return printRecord(
        call,
        await call.api.send("POST", "/webhooks", body),
        "Created. The secret is shown once.",
      );
    },
  },
  {
    name: "webhook update",
    summary: "change a webhook's address or events, enable or disable it",
    usage: "ID --org ID [--url URL] [--event EVENT]… [--enable | --disable] [--json]",
    positionals: 1,
    options: {
      ...{ url: urlOption, event: eventOption },
      enable: { help: "queue and send events again" },
      disable: { help: "queue and send nothing; what waits stays" },
    },
    runByApi: async (call) => {
      const patch = readChange(call);
      if (Object.keys(patch).length === 0)
        throw new UsageError("one of --url, --event, --enable, --disable is required");
      return printRecord(call, await call.api.send("PATCH", pathOfWebhook(call), patch), "Changed.");
    },
  },
  {
    name: "webhook delete",
    summary: "delete a webhook, and what waits for it",
    usage: "ID --org ID [--yes] [--json]",
    positionals: 1,
    options: yesOption,
    runByApi: (call) => deleteRecord(call, pathOfWebhook(call), { what: "webhook", name: "url" }),
  },
  {
    name: "webhook rotate-secret",
    summary: "make a new secret; the one before signs too for a time",
    usage: "ID --org ID [--overlap SECONDS] [--json]",
    positionals: 1,
    options: { overlap: { value: "SECONDS", help: "0 to 604800 (default: 86400)" } },
    runByApi: async (call) => {
      const overlap = optionalText(call.values, "overlap");
      if (overlap !== undefined && !/^\d{1,6}$/.test(overlap))
        throw new UsageError("--overlap must be a number of seconds");
      const overlapSeconds = overlap === undefined ? undefined : Number(overlap);
      const path = `${pathOfWebhook(call)}/rotate-secret`;
      const rotated = await call.api.send("POST", path, definedOnly({ overlapSeconds }));
      return printRecord(call, rotated as Wire, "Rotated. The secret is shown once.");
    },
  },
  {
    name: "webhook test",
    summary: "send a webhook the event webhook.test",
    positionals: 1,
    runByApi: async (call) =>
      printRecord(call, await call.api.send("POST", `${pathOfWebhook(call)}/test`), "Queued."),
  },
  {
    name: "webhook deliveries",
    summary:
      "list what a webhook is sent: what waits, and what was delivered or given up in the last 30 days",
    usage: "ID --org ID [--state STATE] [--limit COUNT] [--json]",
    positionals: 1,
    options: { state: { value: "STATE", help: "pending, delivered or dead" }, ...limitOption },
    runByApi: (call) => {
      const state = optionalText(call.values, "state");
      const states = ["pending", "delivered", "dead"] as const;
      return printRecords(call, `${pathOfWebhook(call)}/deliveries`, {
        query: { state: state && choice("state", state, states) },
        columns: { ID: "id", TYPE: "type", STATE: "state", TRIES: "attempts", "NEXT TRY": "nextAttemptAt" },
        none: "There are no such deliveries.",
      });
    },
  },
  {
    name: "webhook resend",
    summary: "send a delivery again, with all tries ahead",
    usage: "ID --org ID --webhook ID [--json]",
    positionals: 1,
    options: webhookOption,
    runByApi: async (call) => {
      const webhook = encodeURIComponent(requiredText(call.values, "webhook"));
      const path = `${pathOf(call, `/webhooks/${webhook}/deliveries`, "delivery")}/resend`;
      return printRecord(call, await call.api.send("POST", path), "Queued.");
    },
  },
  {
    name: "webhook replay",
    summary: "send the events of a time again, 10,000 at most",
    usage: "ID --org ID --from TIME [--to TIME] [--event EVENT]… [--json]",
    positionals: 1,
    options: {
      from: { value: "TIME", help: "first moment, e.g. 2026-11-28T12:00:00Z", required: true },
      to: { value: "TIME", help: "end (default: now)" },
      event: eventOption,
    },
    runByApi: async (call) => {
      const events = repeatedText(call.values, "event");
      const body = definedOnly({
        from: requiredText(call.values, "from"),
        to: optionalText(call.values, "to"),
        events: events.length > 0 ? events : undefined,
      });
      return printRecord(
        call,
        await call.api.send<Wire>("POST", `${pathOfWebhook(call)}/replay`, body),
        "Queued.",
      );
    },
  },
];

function readChange({ values }: RecordCall) {
  const [isEnabling, isDisabling] = [values.enable === true, values.disable === true];
  if (isEnabling && isDisabling) throw new UsageError("either --enable or --disable");
  const events = repeatedText(values, "event");
  return definedOnly({
    url: optionalText(values, "url"),
    events: events.length > 0 ? events : undefined,
    enabled: isEnabling || isDisabling ? isEnabling : undefined,
  });
}
