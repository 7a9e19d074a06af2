/**
 * Errors that handlers throw after the response was sent. No response shows them, and Fastify
 * reports them only to its own log, which is off.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Server } from "node:http";
import type { FastifyReply } from "fastify";

/** Fastify's own name (its documentation, "Hooks", diagnostics channels). */
const CHANNEL = "tracing:fastify.request.handler:error";

export interface LateErrors {
  /** Of the server's requests so far, each with its request's method and path. */
  found(): readonly string[];
  end(): void;
}

export function watchLateErrors(server: Server): LateErrors {
  const found: string[] = [];
  const note = (message: unknown) => {
    const { reply, error } = message as { reply: FastifyReply; error: unknown };
    if (reply.server.server !== server || !reply.sent) return;
    const { method, routeOptions } = reply.request;
    found.push(`${method} ${routeOptions.url}: ${error instanceof Error ? error.stack : error}`);
  };
  subscribe(CHANNEL, note);
  return { found: () => found, end: () => void unsubscribe(CHANNEL, note) };
}
