/** Resolves the organisation in the path. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Answer, Call, CallHandler } from "./calls/call.ts";
import { NotFound } from "./errors.ts";

export interface InOrganisation<O> {
  readonly organisation: O;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export type OrganisationRoute = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Calls the handler with the organisation of the path; 404 when it is unknown or disabled. */
export function inOrganisation<O>(
  find: (orgId: string) => Promise<O | undefined>,
  handler: (context: InOrganisation<O>) => Promise<unknown>,
): OrganisationRoute {
  return async (request, reply) => {
    const { org = "" } = request.params as { org?: string };
    return handler({ organisation: await organisationOf(find, org), request, reply });
  };
}

/** The same for a call. */
export const callInOrganisation =
  <O>(
    find: (orgId: string) => Promise<O | undefined>,
    handler: (organisation: O, call: Call) => Promise<Answer>,
  ): CallHandler =>
  async (call) =>
    handler(await organisationOf(find, call.params["org"] ?? ""), call);

async function organisationOf<O>(find: (orgId: string) => Promise<O | undefined>, org: string): Promise<O> {
  const organisation = isUuid(org) ? await find(org.toLowerCase()) : undefined;
  if (organisation === undefined) throw new NotFound("organisation");
  return organisation;
}
