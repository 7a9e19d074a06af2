/** The client's IP address. A client that has hung up has none: such requests count as one address. */
import type { FastifyRequest } from "fastify";

export function addressOf(request: FastifyRequest): string {
  const address: string | undefined = request.ip;
  return address ?? "unknown";
}
