/** Holding authorization details against the schema of their type, within a time. */
import { createContext, Script } from "node:vm";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { Check } from "typebox/schema";
import type { AuthorizationDetail, DetailSchema } from "./detail-type.ts";
import { MAX_MATCHED_TEXT } from "./pattern-rules.ts";

/** Of one request. What the rules of schemas let through ends long before, on a machine that is not overloaded. */
const MAX_MS = 250;

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

/** Within what patterns may be tried on: in a schema that has some, every text and name is short. */
function isMatchable(schema: DetailSchema, detail: AuthorizationDetail): boolean {
  return !/"pattern(?:Properties)?":/.test(JSON.stringify(schema)) || hasShortTexts(detail);
}

function hasShortTexts(value: unknown): boolean {
  if (typeof value === "string") return value.length <= MAX_MATCHED_TEXT;
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, member]) => hasShortTexts(name) && hasShortTexts(member));
}

/**
 * @returns whether each keeps its schema
 * @throws OAuthError temporarily_unavailable when that took too long to find out
 */
export function keepSchemas(
  pairs: ReadonlyArray<{ readonly schema: DetailSchema; readonly detail: AuthorizationDetail }>,
): boolean {
  let isKept = false;
  room.run = () => {
    isKept = pairs.every(
      ({ schema, detail }) => isMatchable(schema, detail) && Check(schema, described(schema, detail)),
    );
  };
  try {
    timed.runInContext(room, { timeout: MAX_MS });
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    throw new OAuthError("temporarily_unavailable", "authorization_details could not be checked in time", {
      cause: error,
    });
  } finally {
    delete room.run;
  }
  return isKept;
}
