/**
 * Refuses what comes over a connection before node:http reads it, which costs half as much: under a flood most of what a process does
 * is to refuse. Only while there is too much, only on connections that a refusal went over, and only a request that is there as a
 * whole while node:http stands between two requests; all else goes on to node:http as it came
 * (docs/decisions/2026-11-27-early-refusal.md).
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { RequestReferences } from "../request-references.ts";
import type { PacedRefusals } from "./paced-refusals.ts";
import { type WholeRequest, wantsPage, wholeRequest } from "./whole-request.ts";

export interface GuardOptions {
  /** Whether there is too much at present, and the service does not stop: then whoever is refused must hear that the connection ends. */
  isBusy(): boolean;
  /** Whether this one is refused; counts it. */
  refuses(path: string): boolean;
  readonly idOf: RequestReferences["idOf"];
  /** A whole answer. */
  refusal(id: string): string;
  readonly refusals: PacedRefusals;
}

/** The server's listener of a connection's bytes. */
type Parse = (bytes: Buffer) => void;

/** A named member, as that of a place (`places.ts`). */
type Kept = Socket & { signetGuard?: ConnectionGuard };

/**
 * After a request was refused, or for a connection that comes while there is too much.
 * @param isNew whether nothing was read from it yet
 */
export function guardConnection(socket: Kept, guarding: GuardOptions, isNew = false): void {
  if (socket.signetGuard !== undefined || "encrypted" in socket || socket.destroyed) return;
  const [parse, ...others] = socket.listeners("data") as Parse[];
  if (parse === undefined || others.length > 0) return;
  const guard = new ConnectionGuard(socket, parse, guarding, isNew);
  socket.signetGuard = guard;
  // Adding a listener takes the socket back from the parser, which otherwise reads from it by itself.
  socket.removeListener("data", parse);
  socket.on("data", (bytes: Buffer) => guard.take(bytes));
}

/** Of every request that node:http reads, before anything else is done with it. */
export function noteRequest(request: IncomingMessage, response: ServerResponse): void {
  (request.socket as Kept).signetGuard?.note(request, response);
}

class ConnectionGuard {
  readonly #socket: Socket;
  readonly #parse: Parse;
  readonly #options: GuardOptions;
  /** Whether node:http stands between two requests. */
  #isBetween: boolean;
  #unanswered = 0;
  /** Its refusal is still to be sent. */
  #refused: WholeRequest | undefined;
  #read: IncomingMessage | undefined;

  constructor(socket: Socket, parse: Parse, guarding: GuardOptions, isBetween: boolean) {
    this.#socket = socket;
    this.#parse = parse;
    this.#options = guarding;
    this.#isBetween = isBetween;
  }

  note(request: IncomingMessage, response: ServerResponse): void {
    this.#read = request;
    this.#unanswered++;
    response.once("close", () => this.#unanswered--);
  }

  take(bytes: Buffer): void {
    const whole = this.#options.isBusy() ? wholeRequest(bytes) : undefined;
    if (whole && this.#mayAnswer() && !wantsPage(bytes) && this.#options.refuses(whole.path)) {
      this.#refused = whole;
      this.#options.refusals.add(() => this.#sendRefusal());
      return;
    }
    // What comes next must not be answered before.
    this.#sendRefusal();
    this.#read = undefined;
    this.#parse(bytes);
    const read = this.#read as IncomingMessage | undefined;
    this.#read = undefined;
    // Where the parser still had the beginning of another request, it would not have read these bytes as this one.
    this.#isBetween =
      whole !== undefined &&
      read?.complete === true &&
      read.url === whole.path &&
      read.headers["content-length"] === String(whole.length);
  }

  #sendRefusal(): void {
    const refused = this.#refused;
    if (refused === undefined) return;
    this.#refused = undefined;
    this.#socket.write(this.#options.refusal(this.#idOf(refused)), "latin1");
  }

  #idOf({ requestId }: WholeRequest): string {
    const headers = requestId === undefined ? {} : { "x-request-id": requestId };
    return this.#options.idOf({ socket: this.#socket, headers } as IncomingMessage);
  }

  /** Not while an answer is to come before it, or while the client reads none. */
  #mayAnswer(): boolean {
    return (
      this.#isBetween &&
      this.#unanswered === 0 &&
      this.#refused === undefined &&
      this.#socket.writableLength === 0
    );
  }
}
