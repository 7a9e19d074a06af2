/** Assertions on OAuth responses. */
import assert from "node:assert/strict";
import { decodeJwsUnverified } from "@signet/protocol/jose/jws";
import type { Answer } from "../fixtures/client.ts";

const FORM = "application/x-www-form-urlencoded";

/** Sends a raw body, well-formed or not. */
export async function sendRaw(url: string, init: RequestInit): Promise<Answer & { text: string }> {
  const response = await fetch(url, { redirect: "manual", ...init });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: jsonObject(text) };
}

/** Sends a raw form body. */
export const postText = (url: string, body: string, headers: Record<string, string> = {}) =>
  sendRaw(url, { method: "POST", body, headers: { "content-type": FORM, ...headers } });

function jsonObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Asserts an error response of RFC 6749 §5.2: status, code and description only, uncacheable. */
export function assertOAuthError(answer: Answer, status: number, code: string, about = ""): void {
  const told = `${about} ${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`;
  assert.equal(answer.status, status, told);
  assert.equal(answer.body["error"], code, told);
  assert.deepEqual(Object.keys(answer.body).sort(), ["error", "error_description"], told);
  assert.match(String(answer.body["error_description"]), /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/, told);
  assert.match(answer.headers.get("content-type") ?? "", /^application\/json\b/, told);
  assert.equal(answer.headers.get("cache-control"), "no-store", told);
}

/** The payload of a token, unverified. */
export function payloadOf(token: unknown): Record<string, unknown> {
  const decoded = decodeJwsUnverified(String(token));
  assert.ok(decoded, `not a JWT: ${String(token)}`);
  return decoded.payload;
}

export function headerOf(token: unknown): Record<string, unknown> {
  const decoded = decodeJwsUnverified(String(token));
  assert.ok(decoded, `not a JWT: ${String(token)}`);
  return decoded.header;
}
