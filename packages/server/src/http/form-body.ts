/** Form bodies and query strings as the protocol package reads them: what is repeated stays known as repeated. */
import { type Form, MOST_PARAMETERS, parseForm } from "@signet/protocol/form";
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from "fastify";

/** A form of a page of ours. */
export interface PageForm extends Form {
  /** Something in it was no text: it has been mended to be shown again, and nothing may be done with it. */
  readonly isMended?: boolean;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** A form with something that is no text comes to its handler nevertheless, as `isMended`. */
    mendsForms?: boolean;
    /** Of a form that has more fields than a request of a protocol may have parameters. */
    mostFields?: number;
  }
}

const EMPTY: Form = { values: new Map(), repeated: new Set(), allValues: new Map() };

/** In this scope bodies are forms and nothing else: any other content type is answered with 415. */
export function acceptForms(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string" },
    (request, body, done: (error: Error | null, form?: PageForm) => void) => {
      const text = body as string;
      try {
        done(null, formIn(text, request.routeOptions.config));
      } catch (error) {
        done(error as Error);
      }
    },
  );
}

function formIn(text: string, { mendsForms, mostFields }: FastifyContextConfig): PageForm {
  const limits = { maxParameters: mostFields ?? MOST_PARAMETERS };
  try {
    return parseForm(text, limits);
  } catch (error) {
    // Anybody can send one of half a million fields, which take most of a second to mend.
    const isTooMany = text.split("&", limits.maxParameters + 1).length > limits.maxParameters;
    if (mendsForms !== true || isTooMany) throw error;
    return { ...parseForm(mended(text), limits), isMended: true };
  }
}

/**
 * What is no text, a NUL or half a character, becomes the sign that browsers show in its place.
 * @param raw a form or a query, encoded
 */
const mended = (raw: string): string =>
  new URLSearchParams(raw.toWellFormed().replaceAll(/%00|\0/g, "\uFFFD")).toString();

/** The form of a scope that accepts forms; empty when the request had no body. */
export function formOf(request: FastifyRequest): PageForm {
  return (request.body as PageForm | null | undefined) ?? EMPTY;
}

/** @throws OAuthError invalid_request when the query is malformed */
export function queryOf(request: FastifyRequest): Form {
  const raw = (request.query as { raw?: string }).raw;
  return raw ? parseForm(raw) : EMPTY;
}

/** For pages that search: nothing has in its name what is no text, and the page comes back with what was typed. */
export function mendQuery(request: FastifyRequest): void {
  const query = request.query as { raw?: string };
  const { raw = "" } = query;
  try {
    parseForm(raw);
  } catch {
    query.raw = mended(raw);
  }
}

/** Keeps the query as text until a handler wants it: a malformed one is then answered in that handler's form. */
export const keepRawQuery = (raw: string): { raw: string } => ({ raw });
