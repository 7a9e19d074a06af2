/** Record IDs: UUIDs of version 7 (RFC 9562 §5.7), which sort by creation. */
import { randomInt, randomUUIDv7 } from "node:crypto";

/** Characters before the version, and before the last 64 bits. */
const TIME_LENGTH = 13;
const HEAD_LENGTH = 19;
/** More than this is never added at once: what is next stays as hard to guess as 47 bits are. */
const MAX_STEP = 2 ** 47;

let last = "";

/** Greater than all before in this process: node:crypto's are unordered within a millisecond and follow the clock back. */
export function newUuid(): string {
  const made = randomUUIDv7();
  last = nextUuid(last, made);
  return last;
}

/** @returns `made` when it is greater than `before`, else one that is, with the time of `before` or a millisecond more */
export function nextUuid(before: string, made: string): string {
  if (made > before) return made;
  // RFC 9562 §6.2, method 2: the last one plus a random amount.
  const tail = BigInt(`0x${before.slice(HEAD_LENGTH).replace("-", "")}`) + BigInt(1 + randomInt(MAX_STEP));
  // The two bits of the variant (RFC 9562 §4.1) stay.
  if (tail >> 62n !== 0b10n) return aMillisecondAfter(before, made);
  const digits = tail.toString(16);
  return `${before.slice(0, HEAD_LENGTH)}${digits.slice(0, 4)}-${digits.slice(4)}`;
}

/** The random part of `before` is used up. */
function aMillisecondAfter(before: string, made: string): string {
  const time = BigInt(`0x${before.slice(0, TIME_LENGTH).replace("-", "")}`) + 1n;
  const digits = time.toString(16).padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}${made.slice(TIME_LENGTH)}`;
}
