/** Holding authorization details against the schema of their type, within a time. */
import { createContext, Script } from "node:vm";
import { Check } from "typebox/schema";
import type { AuthorizationDetail, DetailSchema } from "./detail-type.ts";

/** Of one request: a pattern that backtracks is interrupted. */
const MAX_MS = 50;

/** The engine interrupts a script after its time, whatever it calls and wherever in a regular expression it is. */
const timed = new Script("run()");
/** Made once: a context takes a millisecond. */
const room: { run?: () => void } = createContext({});

/** A type that the schema says nothing of is not a member for it: RFC 9396 §2 gives it to all details. */
function described(schema: DetailSchema, detail: AuthorizationDetail): object {
  const { properties, required } = schema;
  const isNamed =
    (typeof properties === "object" && properties !== null && Object.hasOwn(properties, "type")) ||
    (Array.isArray(required) && required.includes("type"));
  if (isNamed) return detail;
  const { type: _, ...others } = detail;
  return others;
}

/** @returns whether each keeps its schema; false too when that took too long to find out */
export function keepSchemas(
  pairs: ReadonlyArray<{ readonly schema: DetailSchema; readonly detail: AuthorizationDetail }>,
): boolean {
  let isKept = false;
  room.run = () => {
    isKept = pairs.every(({ schema, detail }) => Check(schema, described(schema, detail)));
  };
  try {
    timed.runInContext(room, { timeout: MAX_MS });
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    return false;
  } finally {
    delete room.run;
  }
  return isKept;
}
