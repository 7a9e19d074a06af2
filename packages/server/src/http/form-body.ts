/** Form bodies and query strings. Repeated parameters stay marked as repeated. */
import { type Form, MAX_PARAMETERS, parseForm } from "@signet/protocol/form";
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from "fastify";

/** A form of one of our pages. */
export interface PageForm extends Form {
  /** It contained characters that are not text: sanitized to be shown again, never to be acted on. */
  readonly isSanitized?: boolean;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Passes a form that contains non-text to its handler, sanitized and marked as `isSanitized`. */
    sanitizesForms?: boolean;
    /** The maximum number of fields, where a form has more than a protocol request may have parameters. */
    maxFields?: number;
  }
}

export const EMPTY_FORM: Form = { values: new Map(), repeated: new Set(), allValues: new Map() };

/** Accepts form bodies only: any other content type gets 415. */
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

/** The body of a route without settings of its own. @throws OAuthError invalid_request when it is malformed */
export const readForm = (text: string): Form => formIn(text, {});

function formIn(
  text: string,
  { sanitizesForms, maxFields }: Pick<FastifyContextConfig, "sanitizesForms" | "maxFields">,
): PageForm {
  const limits = { maxParameters: maxFields ?? MAX_PARAMETERS };
  try {
    return parseForm(text, limits);
  } catch (error) {
    // A hostile form of half a million fields would take most of a second to sanitize.
    const isTooMany = text.split("&", limits.maxParameters + 1).length > limits.maxParameters;
    if (sanitizesForms !== true || isTooMany) throw error;
    return { ...parseForm(mended(text), limits), isSanitized: true };
  }
}

/** Replaces NUL and lone surrogates with the replacement character. @param raw a form or a query, encoded */
const mended = (raw: string): string =>
  new URLSearchParams(raw.toWellFormed().replaceAll(/%00|\0/g, "\uFFFD")).toString();

/** The parsed form; empty when the request had no body. */
export function parsedForm(request: FastifyRequest): PageForm {
  return (request.body as PageForm | null | undefined) ?? EMPTY_FORM;
}

/** @throws OAuthError invalid_request when the query is malformed */
export function parseQuery(request: Pick<FastifyRequest, "query">): Form {
  const raw = (request.query as { raw?: string }).raw;
  return raw ? parseForm(raw) : EMPTY_FORM;
}

/** For pages with a search: a malformed query is sanitized, so that the page renders with what was typed. */
export function sanitizeQuery(request: FastifyRequest): void {
  const query = request.query as { raw?: string };
  const { raw = "" } = query;
  try {
    parseForm(raw);
  } catch {
    query.raw = mended(raw);
  }
}

/** Keeps the query unparsed until the handler reads it, so that a malformed one gets that surface's error. */
export const keepRawQuery = (raw: string): { raw: string } => ({ raw });
