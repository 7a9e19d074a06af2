/** A person at the agent's terminal: for trying things out, and for an operator who vouches for each sign-in. */
import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import type { Channel, Question, Reply } from "./channel.ts";

/** Asks one thing after the other, however many wait. */
export function terminalChannel(input: Readable, output: Writable): Channel {
  let last: Promise<unknown> = Promise.resolve();
  return {
    ask: (question, signal) => {
      const mine = last.catch(() => undefined).then(() => askOne(question, input, output, signal));
      last = mine;
      return mine;
    },
  };
}

async function askOne(
  question: Question,
  input: Readable,
  output: Writable,
  signal: AbortSignal,
): Promise<Reply> {
  signal.throwIfAborted();
  const reader = createInterface({ input, output });
  try {
    const text =
      question.type === "pin" ? "Type yes when the user has it" : "Number that the user sees (empty: no)";
    const typed = await reader.question(`${describe(question)}\n${text}: `, { signal });
    if (question.type === "pin")
      return { outcome: typed.trim().toLowerCase() === "yes" ? "delivered" : "denied" };
    return typed.trim() === "" ? { outcome: "denied" } : { outcome: "answered", answer: typed.trim() };
  } finally {
    reader.close();
  }
}

function describe({ sub, clientId, clientName, scopes, ip, code }: Question): string {
  const lines = [
    "",
    `User ${plain(sub)} signs in to client ${plain(clientId)}.`,
    `The service says: ${plain(clientName ?? "a client without a name")}, from ${plain(ip ?? "somewhere")}.`,
    `Scopes: ${plain(scopes.join(" ")) || "none"}`,
    ...(code === undefined ? [] : [`Tell the user this code: ${code}`]),
  ];
  return lines.join("\n");
}

/** What the service wrote must not steer the terminal. */
const plain = (text: string): string => text.replace(/\p{C}/gu, "?").slice(0, 200);
