/** Kills a program at its first connection to SIGNET_TEST_DEADLY_PORT: `node --import deadly-connects.ts`. */
import { Socket } from "node:net";

const { connect } = Socket.prototype;
Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
  const [options] = args.flat() as Array<{ port?: number | string } | undefined>;
  if (String(options?.port) === process.env["SIGNET_TEST_DEADLY_PORT"]) process.kill(process.pid, "SIGKILL");
  return Reflect.apply(connect, this, args) as Socket;
} as Socket["connect"];
