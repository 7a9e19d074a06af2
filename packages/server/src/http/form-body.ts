/** Form bodies and query strings as the protocol package reads them: what is repeated stays known as repeated. */
import { type Form, parseForm } from "@signet/protocol/form";
import type { FastifyInstance, FastifyRequest } from "fastify";

const EMPTY: Form = { values: new Map(), repeated: new Set(), allValues: new Map() };

/** In this scope bodies are forms and nothing else: any other content type is answered with 415. @param limits see parseForm */
export function acceptForms(scope: FastifyInstance, limits: { maxParameters?: number } = {}): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string" },
    (_request, body, done: (error: Error | null, form?: Form) => void) => {
      try {
        done(null, parseForm(body as string, limits));
      } catch (error) {
        done(error as Error);
      }
    },
  );
}

/** The form of a scope that accepts forms; empty when the request had no body. */
export function formOf(request: FastifyRequest): Form {
  return (request.body as Form | null | undefined) ?? EMPTY;
}

/** @throws OAuthError invalid_request when the query is malformed */
export function queryOf(request: FastifyRequest): Form {
  const raw = (request.query as { raw?: string }).raw;
  return raw ? parseForm(raw) : EMPTY;
}

/** Keeps the query as text until a handler wants it: a malformed one is then answered in that handler's form. */
export const keepRawQuery = (raw: string): { raw: string } => ({ raw });
