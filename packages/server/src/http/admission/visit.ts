/** One request on its way through the admission. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Admission } from "./admission.ts";
import { type OrganisationLanes, SHARED_LANE } from "./organisation-lanes.ts";
import { Overloaded, type Place, type Placed } from "./places.ts";
import type { Entry } from "./room.ts";

export interface Bounds {
  readonly admission: Admission;
  readonly lanes: OrganisationLanes;
  handle(request: IncomingMessage, response: ServerResponse): void;
  refuse(request: IncomingMessage, response: ServerResponse): void;
}

/** What waits for the place of a request whose handler was called before its body was there. */
interface Late {
  resolve(): void;
  reject(error: Overloaded): void;
}

export class Visit implements Entry, Place {
  readonly organisation: string;
  since = 0;
  state: Entry["state"] = "outside";
  readonly #bounds: Bounds;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  /** `early`: the handler was called before the body was there. `late`: it has come, and the handler asked for its place. */
  #handed: "no" | "early" | "late" = "no";
  #late: Late | undefined;

  constructor(bounds: Bounds, request: IncomingMessage, response: Placed) {
    this.organisation = bounds.lanes.laneOf(request);
    this.#bounds = bounds;
    this.#request = request;
    this.#response = response;
    response.signetPlace = this;
    // Of an answer that stands behind others of its connection it may never come: whoever wants the place finds that one answered.
    response.on("close", closed);
  }

  begin(): void {
    const { admission } = this.#bounds;
    if (!hasBody(this.#request)) this.#enter();
    else if (admission.isQuiet()) this.#handEarly();
    // What is left of a short body is thrown away when it comes.
    else if (hasShortBody(this.#request) && admission.refusesNow(this.organisation))
      setImmediate(() => this.refuse());
    // A refusal costs least before the handler. The parser has not come to the body yet, of which mostly all is there.
    else {
      const comes = admission.expect(this.organisation);
      setImmediate(() => {
        comes();
        if (this.#request.complete) this.#enter();
        else this.#handEarly();
      });
    }
  }

  #enter(): void {
    this.#bounds.admission.enter(this);
  }

  #handEarly(): void {
    this.#handed = "early";
    this.#bounds.handle(this.#request, this.#response);
  }

  takeLate(): Promise<void> | undefined {
    if (this.#handed !== "early") return undefined;
    this.#handed = "late";
    this.#enter();
    // Mostly it has its place at once.
    if (this.state === "working") return undefined;
    if (this.state === "over") return Promise.reject(new Overloaded());
    return new Promise((resolve, reject) => {
      this.#late = { resolve, reject };
    });
  }

  start(): void {
    if (this.#handed === "late") this.#late?.resolve();
    else this.#bounds.handle(this.#request, this.#response);
  }

  refuse(): void {
    if (this.#handed === "late") this.#late?.reject(new Overloaded());
    else this.#bounds.refuse(this.#request, this.#response);
  }

  isAnswered(): boolean {
    return this.#response.headersSent || this.#response.writableEnded;
  }

  leave(): void {
    this.#bounds.admission.leave(this);
  }

  close(): void {
    const { admission, lanes } = this.#bounds;
    admission.close(this);
    if (this.organisation !== SHARED_LANE) return;
    const { writableFinished, statusCode } = this.#response;
    // An answer that was never sent has the status 200 as well, and a preflight gets a good one for any name.
    if (writableFinished && statusCode === 200) lanes.learn(this.#request);
  }
}

function closed(this: Placed): void {
  (this.signetPlace as Visit).close();
}

const SHORT = 16 * 1024;

const hasShortBody = ({ headers }: IncomingMessage): boolean => Number(headers["content-length"]) <= SHORT;

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
