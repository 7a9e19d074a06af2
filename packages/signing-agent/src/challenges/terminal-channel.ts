/** Asks whoever sits at the agent's terminal: for trying challenges out, or for an operator who vouches for each sign-in. */
import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import type { Channel, Question, Reply } from "./channel.ts";

/** One question at a time. */
export function terminalChannel(input: Readable, output: Writable): Channel {
  let last: Promise<unknown> = Promise.resolve();
  return {
    ask: (question, signal) => {
      const reply = last.catch(() => undefined).then(() => askOne(question, { input, output }, signal));
      last = reply;
      return reply;
    },
  };
}

async function askOne(
  question: Question,
  streams: { input: Readable; output: Writable },
  signal: AbortSignal,
): Promise<Reply> {
  signal.throwIfAborted();
  const reader = createInterface(streams);
  try {
    const isPin = question.type === "pin";
    const prompt = isPin
      ? "Type yes when the user has it"
      : "Number that the user sees (leave empty to deny)";
    const input = (await reader.question(`${describe(question)}\n${prompt}: `, { signal })).trim();
    if (isPin) return { outcome: input.toLowerCase() === "yes" ? "delivered" : "denied" };
    return input === "" ? { outcome: "denied" } : { outcome: "answered", answer: input };
  } finally {
    reader.close();
  }
}

function describe({ sub, clientId, clientName, scopes, ip, code }: Question): string {
  return [
    "",
    `User ${printable(sub)} is signing in to client ${printable(clientId)}.`,
    `Claimed by the service: ${printable(clientName ?? "no client name")}, from ${printable(ip ?? "an unknown address")}.`,
    `Scopes: ${printable(scopes.join(" ")) || "none"}`,
    ...(code === undefined ? [] : [`Give the user this code: ${code}`]),
  ].join("\n");
}

/** The service's text must not control the terminal. */
const printable = (text: string): string => text.replace(/\p{C}/gu, "?").slice(0, 200);
