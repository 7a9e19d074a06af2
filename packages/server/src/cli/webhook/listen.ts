/**
 * `signet listen`: for development. Reads the organisation's events by API v1 and sends each to a local address as a webhook would,
 * signed with a secret of its own. Nothing is queued: what happened before it began, or while the address was away, is not sent.
 */
import { setTimeout as pause } from "node:timers/promises";
import { seconds } from "../../core/clock.ts";
import { isEventPattern, matchesEvent } from "../../core/webhooks/webhook.ts";
import { newWebhookSecret, signaturesOf } from "../../core/webhooks/webhook-secret.ts";
import { type Command, type RecordCall, repeatedText, requiredText, UsageError } from "../command.ts";
import { errorMessage, escapeControls } from "../output.ts";
import type { Wire } from "../remote/api-types.ts";

const EVERY_MS = 1_000;
const TIMEOUT_MS = 5_000;
/** Events of other nodes may be stored later than those that happened after them. */
const LATE_MS = 10_000;

export const listenCommand: Command = {
  name: "listen",
  summary: "send the organisation's events to a local address, signed, while it runs (for development)",
  usage: "[--org ID] --forward-to URL [--event EVENT]…",
  options: {
    org: { value: "ID", help: "organisation ID (default: the only one; with --server required)" },
    "forward-to": {
      value: "URL",
      help: "address that receives them; http where it has no scheme",
      required: true,
    },
    event: { value: "EVENT", multiple: true, help: "audit action, user.* or * (default: *); repeatable" },
  },
  examples: ["signet listen --forward-to localhost:3000/webhooks"],
  runByApi: async (call) => {
    const stopped = new AbortController();
    const stop = () => stopped.abort();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
    try {
      return await listen(call, stopped.signal);
    } finally {
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
    }
  },
};

/** Until the signal aborts. @throws UsageError */
export async function listen(call: RecordCall, stopped: AbortSignal): Promise<number> {
  const { io, values, api } = call;
  const address = requiredText(values, "forward-to");
  const url = URL.parse(address.includes("://") ? address : `http://${address}`);
  // `fetch` refuses credentials, which are also what another scheme without slashes looks like: mailto:a@b.
  if (!url || !["http:", "https:"].includes(url.protocol) || url.username !== "")
    throw new UsageError("--forward-to must be an http or https URL");
  const given = repeatedText(values, "event");
  const patterns = given.length > 0 ? given : ["*"];
  const unknown = patterns.find((pattern) => !isEventPattern(pattern));
  if (unknown !== undefined) throw new UsageError(`--event ${unknown}: not an audit action, user.* or *`);
  const secret = newWebhookSecret();
  const events = await eventsFromNow(call);
  io.print(`Events of ${api.orgId} go to ${url.href}`);
  io.print(`Signed with ${secret}`);
  while (!stopped.aborted) {
    await pause(EVERY_MS, undefined, { signal: stopped }).catch(() => {});
    if (stopped.aborted) break;
    const found = await events().catch((error: unknown) => {
      io.printError(`reading events failed: ${escapeControls(errorMessage(error))}`);
      return [];
    });
    for (const event of found)
      if (matchesEvent(patterns, String(event["action"])) && !stopped.aborted)
        io.print(await forward(url, secret, messageOf(event, api.orgId), stopped));
  }
  return 0;
}

/** From the newest event on, oldest first: by the server's clock alone. */
async function eventsFromNow({ api }: RecordCall): Promise<() => Promise<Wire[]>> {
  const seen = new Map<string, number>();
  const [newest] = (await api.list("/audit-events", { limit: 1 })).items;
  let since = newest ? Date.parse(String(newest["at"])) : 0;
  const read = async () => {
    const filter = `at ge "${new Date(Math.max(0, since - LATE_MS)).toISOString()}"`;
    const { items } = await api.list("/audit-events", { query: { filter, sort: "at" } });
    const found = items.filter(({ id }) => !seen.has(String(id)));
    for (const { id, at } of found) seen.set(String(id), Date.parse(String(at)));
    since = Math.max(since, ...seen.values());
    for (const [id, at] of seen) if (at < since - 2 * LATE_MS) seen.delete(id);
    return found;
  };
  if (newest) await read();
  return read;
}

/** As `webhookMessage` makes it of the event itself. */
function messageOf(event: Wire, organisation: string) {
  const { id, at, action, actorType, actorId, targetId, details } = event;
  const actor = actorId === null ? actorType : `${actorType}:${actorId}`;
  const data = { organisation, actor, target: targetId, details };
  return { id: String(id), body: JSON.stringify({ id, type: action, timestamp: at, data }), type: action };
}

/** @returns a line that tells what came of it */
async function forward(
  url: URL,
  secret: string,
  { id, body, type }: ReturnType<typeof messageOf>,
  stopped: AbortSignal,
): Promise<string> {
  const timestamp = seconds(Date.now());
  const told = (outcome: string) => escapeControls(`${type} ${id}: ${outcome}`);
  try {
    const answer = await fetch(url, {
      ...{ method: "POST", body, redirect: "manual" },
      headers: {
        ...{ "content-type": "application/json", "webhook-id": id, "webhook-timestamp": String(timestamp) },
        "webhook-signature": signaturesOf([secret], { id, timestamp, body }),
      },
      signal: AbortSignal.any([stopped, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await answer.body?.cancel();
    return told(String(answer.status));
  } catch (error) {
    return told(errorMessage(error));
  }
}
