/**
 * Connections that the system refuses at once, without a packet, as it does without a route (ENETUNREACH, EHOSTUNREACH), a
 * local address (EADDRNOTAVAIL) or permission (EACCES). No test can rely on the machine for it, so libuv's own answer is
 * replaced.
 */
import { constants } from "node:os";

export const immediateConnectErrors = ["ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL", "EACCES"] as const;
export type ImmediateConnectError = (typeof immediateConnectErrors)[number];

type Connect = (request: object, address: string, port: number) => number;
interface TcpHandle {
  connect: Connect;
  connect6: Connect;
}

export interface FailingConnects {
  /** From now on, connections to this port fail with another error. */
  fail(port: number, code: ImmediateConnectError): void;
  /** How many have failed. */
  count(): number;
  restore(): void;
}

export function failingConnects(): FailingConnects {
  // Not public: it is what node:net calls (lib/net.js).
  const { TCP } = (
    process as unknown as { binding(name: string): { TCP: { prototype: TcpHandle } } }
  ).binding("tcp_wrap");
  const { connect, connect6 } = TCP.prototype;
  const ports = new Map<number, ImmediateConnectError>();
  let count = 0;
  const failing = (real: Connect): Connect =>
    function (this: TcpHandle, request, address, port) {
      const code = ports.get(port);
      if (code === undefined) return real.call(this, request, address, port);
      count++;
      return -constants.errno[code];
    };
  TCP.prototype.connect = failing(connect);
  TCP.prototype.connect6 = failing(connect6);
  return {
    fail: (port, code) => void ports.set(port, code),
    count: () => count,
    restore: () => {
      TCP.prototype.connect = connect;
      TCP.prototype.connect6 = connect6;
    },
  };
}
