/** The service as an agent of a threshold pool sees it. Nothing that it says is believed: see ceremony.ts and sign-round.ts. */
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import type { RejectReason } from "../agent/refusal.ts";
import type { JsonAnswer, JsonClient } from "../service/json-client.ts";
import { claimedSchema, serviceError } from "../service/signing-service.ts";
import type { Boot, Commitment } from "./nonces.ts";

/** A refusal of the service, by its code. */
export class ServiceRefusal extends Error {
  override name = "ServiceRefusal";
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const text = Type.String({ maxLength: 2_048 });
const key = Type.String({ minLength: 43, maxLength: 43 });

const poolSchema = Type.Object({
  pool: text,
  threshold: Type.Object({ min: Type.Integer(), max: Type.Integer() }),
  agentId: text,
  agents: Type.Array(Type.Object({ agentId: text, name: text, kid: key }), { maxItems: 1_000 }),
  keys: Type.Array(Type.Object({ kid: key, ceremonyId: text, state: text }), { maxItems: 1_000 }),
  ceremony: Type.Union([
    Type.Null(),
    Type.Object({
      ceremonyId: text,
      kind: text,
      state: text,
      min: Type.Integer(),
      max: Type.Integer(),
      begunBy: text,
      kid: Type.Union([key, Type.Null()]),
      from: Type.Union([text, Type.Null()]),
      members: Type.Array(text, { maxItems: 9 }),
      endReason: Type.Union([text, Type.Null()]),
      messages: Type.Array(
        Type.Object({ agentId: text, round: text, message: Type.String({ maxLength: 16_384 }) }),
        {
          maxItems: 100,
        },
      ),
    }),
  ]),
});
export type PoolState = Static<typeof poolSchema>;
export type CeremonyState = NonNullable<PoolState["ceremony"]>;
const poolMessage = Compile(poolSchema);

const commitmentSchema = Type.Object({ kid: key, hiding: key, binding: key });
const commitmentList = Type.Array(commitmentSchema, { minItems: 2, maxItems: 9 });
const roundSchema = Type.Object({
  ...claimedSchema.properties,
  /** That the signers have their shares from. */
  ceremony: text,
  /** By use. */
  commitments: Type.Record(Type.String({ maxLength: 100 }), commitmentList),
});
export type Round = Static<typeof roundSchema>;

const stock = {
  kid: Type.Union([key, Type.Null()]),
  ceremony: Type.Union([text, Type.Null()]),
  stock: Type.Integer(),
};
const claimMessage = Compile(Type.Object({ rounds: Type.Array(roundSchema, { maxItems: 32 }), ...stock }));
const sharesMessage = Compile(
  Type.Object({
    results: Type.Array(
      Type.Object({ requestId: text, status: Type.Optional(text), error: Type.Optional(text) }),
    ),
    rounds: Type.Array(roundSchema, { maxItems: 32 }),
    ...stock,
  }),
);
const begunMessage = Compile(Type.Object({ ceremonyId: text }));
const stateMessage = Compile(Type.Object({ state: text }));
const errorMessage = Compile(Type.Object({ error: text, error_description: Type.Optional(text) }));
const stockMessage = Compile(Type.Object({ stock: Type.Integer() }));

export type ShareResult = { readonly requestId: string; readonly status?: string; readonly error?: string };

export interface Part {
  readonly requestId: string;
  readonly leaseToken: string;
  readonly shares?: Readonly<Record<string, string>>;
  readonly rejection?: { readonly reason: RejectReason; readonly detail: string };
}

export interface RoundsAnswer {
  readonly rounds: readonly Round[];
  /** The pool's group key, if it has one. */
  readonly kid: string | null;
  /** That the key's members have their shares from. */
  readonly ceremony: string | null;
  /** Of this agent's commitments, as the service has it. */
  readonly stock: number;
}

const ANSWER_MS = 15_000;
const MAX_BYTES = 4_194_304;

export type ThresholdService = ReturnType<typeof thresholdService>;

/** @param url of the organisation's sovereign endpoints */
export function thresholdService(client: JsonClient, url: string, apiKey: string) {
  const call = caller(client, `${url}/agent/threshold`, apiKey);
  return {
    pool: async (ceremonyId?: string): Promise<PoolState> => {
      const query = ceremonyId === undefined ? "" : `?${new URLSearchParams({ ceremony: ceremonyId })}`;
      return read("threshold", await call("GET", query), 200, poolMessage);
    },
    begin: async (): Promise<string> =>
      read("threshold/ceremonies", await call("POST", "/ceremonies", {}), 201, begunMessage).ceremonyId,
    /** @param members the agents that are to have shares */
    beginReshare: async (members: readonly string[]): Promise<string> =>
      read("threshold/reshares", await call("POST", "/reshares", { members }), 201, begunMessage).ceremonyId,
    say: async (ceremonyId: string, message: string): Promise<string> =>
      read("threshold/messages", await call("POST", "/messages", { ceremonyId, message }), 200, stateMessage)
        .state,
    publish: async (boot: Boot, kid: string, commitments: readonly Commitment[]): Promise<number> =>
      read(
        "threshold/commitments",
        await call("POST", "/commitments", { boot, kid, commitments }),
        200,
        stockMessage,
      ).stock,
    claim: async (
      boot: Boot,
      wait: { max: number; seconds: number; signal?: AbortSignal },
    ): Promise<RoundsAnswer> => {
      const { max, seconds } = wait;
      return read(
        "threshold/claim",
        await call("POST", "/claim", { boot, wait: seconds, max }, wait),
        200,
        claimMessage,
      );
    },
    /** @param max of further rounds, which come with the answer */
    submit: async (
      boot: Boot,
      parts: readonly Part[],
      max: number,
    ): Promise<RoundsAnswer & { readonly results: readonly ShareResult[] }> => {
      const content = { boot, parts, ...(max > 0 ? { claim: { max } } : {}) };
      return read("threshold/shares", await call("POST", "/shares", content), 200, sharesMessage);
    },
  };
}

interface Wait {
  readonly seconds: number;
  readonly signal?: AbortSignal;
}

const caller =
  (client: JsonClient, base: string, apiKey: string) =>
  (method: "GET" | "POST", path: string, content?: object, wait?: Wait): Promise<JsonAnswer> =>
    client.call({
      method,
      url: `${base}${path}`,
      headers: { authorization: `Bearer ${apiKey}` },
      ...(content ? { body: JSON.stringify(content) } : {}),
      timeoutMs: ANSWER_MS + (wait?.seconds ?? 0) * 1000,
      maxBytes: MAX_BYTES,
      ...(wait?.signal ? { signal: wait.signal } : {}),
    });

interface Message<T> {
  Check(value: unknown): value is T;
}

/** @throws ServiceRefusal for 4xx with a code, ServiceError for anything else that is unexpected */
function read<T>(name: string, answer: JsonAnswer, expected: number, message: Message<T>): T {
  const { status, body } = answer;
  if (status === expected && message.Check(body)) return body;
  const isRefusal = [404, 409, 422].includes(status) && errorMessage.Check(body);
  if (!isRefusal) throw serviceError(name, answer);
  const description = (body.error_description ?? "").replace(/[^\x20-\x7e]/g, "?");
  throw new ServiceRefusal(body.error, `${body.error}: ${description}`);
}
