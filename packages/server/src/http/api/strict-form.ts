/**
 * Which calls of administrators' system accounts need the strict form of a signature; this file alone decides it, for the
 * management API and the administration of devices and signing agents.
 * The plain form covers the body only (specification, "HMAC API authentication"): one signature of an empty body fits every
 * call without a body, again and again. So whatever such a signature could create, show or destroy needs method, address,
 * time and nonce signed too (wire-contract.md §3).
 */
import type { Operation } from "./api-route.ts";

type Ruled = Pick<Operation, "method" | "path" | "body" | "bodyOptional">;

export type StrictFormRule = "always" | "without-content" | "never";

const BASE = "/legacy/api/oauth/";
const DEVICES = "/devices/manage/";
const SOVEREIGN = "/oauth/:org/sovereign/admin/";

export function strictFormRule({ method, path, body, bodyOptional = false }: Ruled): StrictFormRule {
  if (method === "GET") return "never";
  // An enrolment code lets a device in; the other calls have the same body for every device.
  if (path.startsWith(DEVICES)) return "always";
  // sovereign-signing.md §5. A recorded registration shows no second API key: each agent's keys are new to the service.
  if (path.startsWith(SOVEREIGN)) return method === "DELETE" ? "always" : "never";
  if (!path.startsWith(BASE)) return "never";
  if (method === "DELETE" || body === undefined) return "always";
  // They hand out credentials, or change what a credential may do.
  if (path.endsWith("/rotate-secret") || path.startsWith(`${BASE}system-accounts`)) return "always";
  return bodyOptional ? "without-content" : "never";
}

/** @param body parsed; one without a value says as little about the call as none */
export function needsStrictForm(operation: Ruled, body: unknown): boolean {
  const rule = strictFormRule(operation);
  return rule === "always" || (rule === "without-content" && !hasContent(body));
}

const hasContent = (body: unknown): boolean =>
  typeof body === "object" && body !== null && Object.values(body).some((value) => value !== null);
