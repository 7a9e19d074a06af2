/** Where a request comes from. A client that has hung up has no address any more: such requests count as one place. */
import type { FastifyRequest } from "fastify";

export function addressOf(request: FastifyRequest): string {
  const address: string | undefined = request.ip;
  return address ?? "unknown";
}
